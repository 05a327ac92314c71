-- runs-from: 0005-roles
-- Plans live as long as a connection, and are made for ten decisions of which nothing is known. Where a table then has a few hundred
-- rows, a join by hash or merge looks cheaper than ten look-ups, and every decision would read all of the table, each time.
alter function svc_judge(svc_decision[], text[]) set enable_hashjoin = off;
alter function svc_judge(svc_decision[], text[]) set enable_mergejoin = off;
