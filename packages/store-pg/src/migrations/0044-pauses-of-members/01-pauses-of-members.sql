-- runs-from: 0005-roles
-- A pause of a member, or its end, beside that of its org could be without effect for good: the statement that set the flags of all members read
-- `pauses` as it was when it began, and wrote over the flag of a member that another transaction had set meanwhile. Now whatever concerns an
-- org has all its members first, in statements of their own, so that the flags are set by a statement that begins afterwards.
create or replace function svc_lock_pause_owner(p_scope text, p_owner text)
returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
  case p_scope
    when 'service' then
      -- In the order in which an org takes its members, and before the row that whoever registers one shares.
      perform from relying_parties order by did for no key update;
      -- Nobody registers meanwhile (svc_register_beside_pause).
      perform from ledger_seal for update;
    when 'org' then
      -- The row of the org comes first: nobody joins meanwhile (svc_pause_with_org).
      perform from orgs where org_id = p_owner for update;
      if not found then
        return false;
      end if;
      perform from principals where org_id = p_owner order by did for no key update;
      perform from relying_parties where org_id = p_owner order by did for no key update;
      return true;
    when 'relying_party' then
      perform from relying_parties where did = p_owner for no key update;
    else
      perform from principals where did = p_owner for no key update;
  end case;
  return found;
end;
$$;

-- Flags that were lost are set again, and the versions with them, so that nodes read them and commits refuse what rests on them. Of each member the
-- org's row and its own are held meanwhile, for the same reason.
do $$
declare
  v_member record;
begin
  for v_member in select did, org_id from principals where has_pauses != svc_principal_has_pauses(did, org_id) loop
    perform from orgs where org_id = v_member.org_id for no key update;
    perform from principals where did = v_member.did for no key update;
    update principals
    set
      has_pauses = svc_principal_has_pauses(did, org_id),
      version = version + 1
    where did = v_member.did and has_pauses != svc_principal_has_pauses(did, org_id);
  end loop;
  for v_member in select did, org_id from relying_parties where is_paused != svc_relying_party_is_paused(did, org_id) loop
    perform from orgs where org_id = v_member.org_id for no key update;
    perform from relying_parties where did = v_member.did for no key update;
    update relying_parties
    set
      is_paused = svc_relying_party_is_paused(did, org_id),
      version = version + 1
    where did = v_member.did and is_paused != svc_relying_party_is_paused(did, org_id);
  end loop;
end;
$$;
