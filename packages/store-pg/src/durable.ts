/**
 * A row that was found stored need not be durable: a commit whose wait for the standby was cancelled, by hand or by the
 * end of its session, is visible, and is lost with the machine. So after the row was found, a transaction that writes
 * only a log message is committed. Once that commit is durable, everything before it is (PostgreSQL, "Logical decoding
 * functions").
 */
export const DURABLE = `select pg_logical_emit_message(true, 'svc', '')`;

/** For a transaction that has written nothing, whose COMMIT would otherwise wait for nothing. */
export const DURABLE_IF_NOTHING_WRITTEN = `${DURABLE} where pg_current_xact_id_if_assigned() is null`;
