/** Secrets of a subscription that are in force. */

/** An SQL expression: the secrets of the subscription that the expression `id` names, newest first. */
export const secretsOf = (id: string) => `(
    select coalesce(json_agg(json_build_object('number', e.number, 'root', e.root, 'endsAtMs', svc_ms(e.ends_at))
      order by e.number desc), '[]')
    from event_secrets e where e.subscription_id = ${id} and (e.ends_at is null or e.ends_at > svc_now()))`;
