-- runs-from: 0005-roles
-- Each pause that has ended keeps its row, and nothing limits how many an org has. What the worker looks for every few seconds, and what is asked under
-- the lock of a Principal's row, read all of them.
create index pauses_unstamped on pauses (changed_at) where visible_at is null;
create index pauses_in_force on pauses (owner, scope) where is_paused;
