-- runs-from: 0005-roles
-- A restore marked every Grant in force in its last transaction, which with millions of them never came to its end. They are marked in steps
-- before it, under the number of a restore that has no row yet (decision 103).
alter table grants drop constraint grants_withheld_by_fkey;
