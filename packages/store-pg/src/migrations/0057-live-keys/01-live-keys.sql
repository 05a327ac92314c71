-- runs-from: 0005-roles
-- Keys are kept for ever, and each list and count of live ones read all that their subject ever had: it paid for every rotation again. What is deleted
-- with a DID goes by api_keys_by_subject as before.
create index api_keys_live on api_keys (subject, created_at desc) where revoked_at is null;
create index api_keys_revoked on api_keys (subject, revoked_at desc) where revoked_at is not null;
