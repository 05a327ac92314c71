/** Inputs that several tools take, with their descriptions. */
import { z } from 'zod';
import { MAX_PER_PAGE } from './tools/grants.ts';

export const READS = { readOnlyHint: true, openWorldHint: false };

export const limit = z.number().int().min(1).max(MAX_PER_PAGE).optional();
export const cursor = z.string().max(512).optional().describe('next_cursor of the page before');
export const confirmToken = z
  .string()
  .max(64)
  .optional()
  .describe(
    'Of the answer to the same call, once the user has said yes. Not where the client asks its user by itself.',
  );
