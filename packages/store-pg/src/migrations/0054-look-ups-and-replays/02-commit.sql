-- As svc_judge (0009-judge-by-look-up): where a table is small, a join by hash looks cheaper than ten look-ups, and every commit would read all of it.
alter function svc_bind_grants(svc_decision[], integer[], text[]) set enable_hashjoin = off;
alter function svc_bind_grants(svc_decision[], integer[], text[]) set enable_mergejoin = off;
alter function svc_release_proofs(svc_decision[], text[], text[]) set enable_hashjoin = off;
alter function svc_release_proofs(svc_decision[], text[], text[]) set enable_mergejoin = off;
