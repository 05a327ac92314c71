/**
 * What is found stored need not last: a commit whose wait for the standby was ended, by a hand or by the end of its session,
 * is visible and lost with the machine. A commit of nothing but a message in the log, sent after what was found, is answered
 * when it lasts, and then so does everything before it (PostgreSQL, "Logical decoding functions").
 */
export const DURABLE = `select pg_logical_emit_message(true, 'svc', '')`;

/** In a transaction that has written nothing, whose COMMIT would wait for nothing. */
export const DURABLE_IF_NOTHING_WRITTEN = `${DURABLE} where pg_current_xact_id_if_assigned() is null`;
