/** The OpenAPI document of this deployment, built at the first request for it. */
import { buildOpenApiDocument } from '@svc/contract/openapi';
import type { Answer } from './exchange.ts';
import { encode, represent, type Wishes } from './representations.ts';
import { JSON_TYPE } from './respond.ts';

const HOUR = { 'Cache-Control': 'public, max-age=3600' };

export const openApiDocument = (publicBaseUrl: string): ((wishes: Wishes) => Promise<Answer>) => {
  const build = async () => {
    const text = Buffer.from(JSON.stringify(buildOpenApiDocument(publicBaseUrl)));
    return represent(await encode(text), { contentType: JSON_TYPE, headers: HOUR });
  };
  let built: ReturnType<typeof build> | null = null;
  return async (wishes) => {
    built ??= build();
    return (await built)(wishes);
  };
};
