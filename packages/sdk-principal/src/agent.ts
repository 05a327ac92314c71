/** For Agents: keys, Proofs, and a `fetch` that adds them. */
export type { Action } from '@svc/protocol';
export { SvcError, type SvcErrorKind } from '@svc/sdk-core/errors';
export { type AgentFetch, type AgentFetchOptions, createAgentFetch } from './agent-fetch.ts';
export { type Agent, type AgentKey, agentFromJwk, generateAgentKey } from './agent-key.ts';
export { type AgentToolsOptions, createToolCaller, type ToolCall, type ToolClient } from './agent-tools.ts';
export type { Ed25519PrivateJwk } from './ed25519.ts';
export { type ProofRequest, signProof } from './sign-proof.ts';
