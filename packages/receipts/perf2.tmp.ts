import { decodeBase64url, decodeUtf8 } from '@svc/protocol';
import { buildWorld } from './test/world.ts';
const w = await buildWorld(); const {jws}=w.signed;
const part=jws.split('.')[1]!;
const text=decodeUtf8(decodeBase64url(part)!)!;
const body=JSON.parse(text);
const isOrdered = (value: any): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isOrdered);
  let last = '';
  for (const name of Object.keys(value)) { if (name < last) return false; last = name; if (!isOrdered(value[name] ?? null)) return false; }
  return true;
};
const A='ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const pair=new Uint16Array(1<<14).fill(0xffff);
for(let i=0;i<64;i++)for(let j=0;j<64;j++)pair[(A.charCodeAt(i)<<7)|A.charCodeAt(j)]=(i<<6)|j;
const dec2=(t:string)=>{const n=t.length-t.length%4;const out=new Uint8Array(n/4*3);let o=0;for(let i=0;i<n;i+=4){const a=pair[(t.charCodeAt(i)<<7)|t.charCodeAt(i+1)]!,b=pair[(t.charCodeAt(i+2)<<7)|t.charCodeAt(i+3)]!;if((a|b)>4095)return null;out[o]=a>>4;out[o+1]=(a<<4)|(b>>8);out[o+2]=b;o+=3}return out};
const fb=(t:string)=>{const b=Buffer.from(t,'base64url');return b.toString('base64url')===t?b:null};
const bench=(n:string,f:()=>unknown)=>{let best=1e9;for(let r=0;r<10;r++){const t=process.hrtime.bigint();for(let i=0;i<4000;i++)f();best=Math.min(best,Number(process.hrtime.bigint()-t)/4000/1000)}console.log(n.padEnd(28),best.toFixed(2),'µs')};
bench('dec',()=>decodeBase64url(part));bench('dec2',()=>dec2(part));bench('Buffer+reencode',()=>fb(part));
bench('atob',()=>atob(part));
bench('dec slice of jws',()=>decodeBase64url(jws.slice(jws.indexOf('.')+1,jws.lastIndexOf('.'))));
bench('alloc',()=>new Uint8Array(3000));
bench('parse',()=>JSON.parse(text));bench('ordered',()=>isOrdered(body));bench('stringify',()=>JSON.stringify(body));
const enc=new TextEncoder();const bytes=enc.encode(text);bench('utf8dec',()=>decodeUtf8(bytes));
bench('spread',()=>({...body,receipt:jws}));
const bt=Buffer.from(text);
bench('parse fresh',()=>JSON.parse(decodeUtf8(bytes)!));
