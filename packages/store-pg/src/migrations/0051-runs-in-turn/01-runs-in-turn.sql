-- runs-from: 0005-roles
-- Runs were taken in the order in which they were started: one org with many accounts, whose endpoint answers slowly, kept everybody's waiting until
-- they were given up. Now the runs of each are in turn. Null: a version before this one started it, and its account stands for the org.
alter table conformance_runs
add column org text collate "C",
add column is_newcomer boolean not null default false;
create index conformance_runs_open_of_org on conformance_runs (org) where status = 'running';
