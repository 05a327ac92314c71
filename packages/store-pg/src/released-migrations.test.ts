/**
 * Databases have run every landed migration, and refuse a program whose text of one differs. A change is a new
 * migration.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('./migrations/', import.meta.url);

/** SHA-256 of each folder. A line is added with its folder, and never changed. */
const LANDED: readonly (readonly [name: string, sha256: string])[] = [
  ['0001-foundation', '111a1e6f6723d99efdfd3c086aa0959802563f04e3a816e69f5b17dcbd4ef7c8'],
  ['0002-registry', 'eae928b04f933ef9769cf0b6f11078262745e6ac22f7ecb9f85cf83cb2e8d791'],
  ['0003-service-keys', 'f6c6464509f2cdb3ae5f7a5c9d362ad481efcb38ab605260340bc64f8983ecc5'],
  ['0004-fence', 'e641413a921586e148adb3c70f879655ac4bd677737b509842d0b00327838c07'],
  ['0005-roles', 'dd3062e52d1ee5ccfd9cdf182f7eac6b78d110e521e9ba5bfb460b3a3e0b5652'],
  ['0006-clock-repair', '6f9571f6227bd581c162b27ce43a181230163a9668e2549bda0f7b690562a621'],
  ['0007-service-did', 'a8e1f51a7b60a6f0599cf8d3f1e4fa935c846bca3710c738c64b2389816eb069'],
  ['0008-replica-marks', '9d90a882b7bed4f1cbdb6ef8f7cc0455bd20b5c64f1c2b2c047eb3ed6ae699e3'],
  ['0009-judge-by-look-up', 'f1c1e938d314ac4b2678e77f13fdd3f1bcdf319bc47c31bd45e27ddde2b694e1'],
  ['0010-events', 'b975c5b6fa0289250bc3ba9a79ad6122a12365a6515ebcfaf13760f33278c718'],
  ['0011-pauses', 'ab367d300bd7ef69627da14ec4c9a6de215393216e6d2c4ff89cbc3b4fafcf57'],
  ['0012-cold-days', '04b3d1f693186186acb2a9c84c8b131f4bf54e60ffc54f79c09f837f07c55dfc'],
  ['0013-pause-events', '3e06e62da1ddca829577f95dc5a9f027a50bafabf6877cf4f9102a18b93e4416'],
  ['0014-fair-deliveries', '8101533413a082bee1f7a5ef3a64b172933aa72c2c3f31872faa20ebff613fc7'],
  ['0016-service-pause', '31d8a4d843f9c4fc1f0254b7ba672a5027da2a13999252f7ff61dd757cba5495'],
  ['0017-cold-days-kept', '4b7c95075fe4671bed9dd55cc4cf0ea0931149c945ab1ec1b8d604fbcc375e71'],
  ['0018-approvals', '9e4bf6000fcc8ed8da81292c18e1dffeb86014200b710e8d2ddbd80aff125fb8'],
  ['0019-fair-looks', '2b07b199852131e44140951158149acce2a31653949c40390c6e17a3037241c4'],
  ['0020-in-steps', '6b81159b4bd92641b595f8eb355ee98b94b69fe7e2d5ba07075cecf891b62de6'],
  ['0021-approval-evidence', 'c4cf5f14733edc0682d5f35bae1d24aa3ffb2805bc58883088b3831e5ba87ba4'],
  ['0022-streams', '424558498debdf8b0a5519b6f92975ab17de509de6a4e37c302c3b8c8fcf8b98'],
  ['0023-pushed-streams', 'fe3e6465c6de4e79e27e19ebe1102571ac9e0763ad699ff78e0d6812b95f23a9'],
  ['0025-cold-manifests', '913e5df86d657895a3303d776be31ec89c7103d17cb5836ec886040974d79146'],
  ['0026-whose-events', 'b8c42b95cecce368a9b1bed287dc3f4515798fb918d461223aa39f947c90d5fd'],
  ['0027-who-hears-of-requests', 'fec31474d410cfa05dbcdbfc0b97b5c40c3f1662b13be5626826706c9e61d0f4'],
  ['0030-days-that-fail', 'a485cb73630b008c6575b5912942918d28d6903d138d44670e97ae47cbfe7fd6'],
  ['0034-fair-shares', '5f45a27f62bb9d90d580c5948e9003c7c8ec8ac6e765841aae7ce0359d0e2ba1'],
  ['0035-clock-events', '4debb868b1cccf962c3a9532801edfaaf77e321c13b61d936f6d9c90be5a867b'],
  ['0036-disabled-in-steps', '32a9f573c1f26de5f5988a45ba363305ab09407ab67debe893311cc1eaf3af62'],
  ['0037-cleared-days', '7bd5ea96516b7fb9f85825a1e14df551ecec91959a67872ce0111bac53258252'],
  ['0038-due-days', '021d88438a2b07bd6fff89adeec398373fb8819b8effc2911ff4b99eb2bd2e07'],
  ['0039-told-in-turn', '50ac4af63453782b2d09b94d86f4cfc8d25dcba7fbfb6fd1b4337b4f73609e2c'],
  ['0040-withheld-in-steps', '08fc1f19a88be94dec9241f3404acf4f41b0d4a182a3aee055d711df4e125c6d'],
  ['0041-clock-traces', 'd7932ee419d7deb7ec902c8003d49d900df348cf3c2d3f37abb1a796943affd5'],
  ['0042-one-snapshot', 'b138345fb2cdb9ee77277891f90b8c8b77c2a2e497d71290fa1f5d9725b13cd5'],
  ['0043-readable-days', 'b3230dfad597bb9ff350049412925672901dbe859f7bbedafc3aa5c29e161bc7'],
  ['0044-pauses-of-members', '079c82f8cbf25b1c72a4a3e9e0bd9479a9c6197b29e1af8c432eb9324649c703'],
  ['0045-keys-and-caps', '18b599821029918bbfcd615df0a42bd733cdea33af8dccb72b39525b03be588c'],
  ['0046-kept-copies', 'eda64ad3869941ae854d1acf341d95f9c7014b4002525ded2a480ebd0166e837'],
  ['0047-approvals-ahead', '08ffc18f169d805b0f4bcef2e4c4f4d68c18197a4557e6a8f59f6c2914f08bdc'],
  ['0048-small-copies', 'a4dde5120e55c6bda7790945b0c3db4620f662bca1e864d58e68be1e8ced489d'],
  ['0049-cleared-where-brought-back', '72770e5c7a6b97a3203adcd2f65ade1fc175528d2c788298516994c767418979'],
  ['0050-who-is-behind', '88b08dbd074987ab319640ecabed23d6bd5b96da7579f3524b8578128741c6d6'],
  ['0051-runs-in-turn', 'c77963c241a1238aeba58b5c8a0dd75c75e42ad2a85fc383b42ba15af8cd264d'],
  ['0052-ahead-and-stopped', '8623ad495d69fdacecad463b33d1baf0f0c9c976f471d0385cc4fdb67d320506'],
  ['0053-one-event-that-fails', 'e0cd513e6864d79e703057263874f8b61558ce87d6772c10220cad87234ac75b'],
  ['0054-look-ups-and-replays', 'a8b2427d75d0af104c6b5fa9984c4c8cc33b529ff03697da4387e176893632f3'],
  ['0055-outcomes-of-unverified', '8803beb9e34ce5068de836cd19515148f82d0ea772dbcfb4925be58c7b091d92'],
  ['0056-lapsed-verifications', 'b1fd21a20b00a9332eec5f5ec3dea47048d533167a60840c53bf94ae8cb7f2ba'],
  ['0057-live-keys', '672ea7c93dab7ca01f631c1a2b0203349e35c8be32ab2dccebe6ae22b5af6d79'],
  ['0058-forgotten-in-steps', '1cecda8cde607634b112989f0ed554431e1276eb0f4aea7d75675bb37d285e5e'],
  ['0059-due-endpoints', 'cb863bae73c24ea4a7e867114265e208dea293f01eaeb2b9196c72c271d11639'],
  ['0060-hosts-in-turn', '1a5443daf566b92017650d67035bf48cc70e2dd8dffa7f4a235c321dcef9a6c9'],
  ['0061-lists-by-index', 'febbc8ff47b5a98222070df21ec4f0c4a25318e00cc5b035b70bf30d385ccd84'],
  ['0062-beside-older-nodes', 'd89fb6cb5bcc4bdd75cc0dd4c6f651d83725df0f02172049fe8355974567468d'],
  ['0063-who-is-due', '9f213c2c558ad5e47e3cc75cb2c66371260380a2f667356373f13a26f1fb505f'],
  ['0064-lists-between-times', '01bf5c03c257ab718942956ce03727f77f74525c369b44518cea283585853fb3'],
  ['0065-rows-before-the-barrier', '896303409c95e2cd200dbe3ca2bee198f6fd28def29b8b3aec4ecfb95c35d866'],
  ['0066-looks-are-bounded', 'cfda7dabf423ccc90bc6621bcf5c09168247b851d38bcaa2fa953801c9429fe1'],
  ['0067-cold-days-ahead', 'e8b0c8ebf354a5e8390a2a0df94e4cb7265e45906a23d04d8e1b31a34a71fa76'],
  ['0068-read-on', '73e6f5878f6bef2f1f24bc5ae53dcc6c9837d95ae7194e08716f16650074287f'],
];

/** Hash of the names and texts of the files, in the order in which they run. */
const hashOf = (name: string): string => {
  const hash = createHash('sha256');
  for (const file of readdirSync(new URL(`${name}/`, folder)).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(new URL(`${name}/${file}`, folder)))
      .update('\0');
  return hash.digest('hex');
};

it.each(LANDED)('migration %s is unchanged since it landed', (name, sha256) => {
  const found = existsSync(new URL(name, folder)) ? hashOf(name) : 'gone';
  const next =
    'a migration that has landed never changes: take it back, and write a new one (npm run new -- migration NAME). If only your branch has this one, replace its hash here';
  expect(found, `packages/store-pg/src/migrations/${name}: ${next}`).toBe(sha256);
});

it('every migration is listed with its hash', () => {
  const landed = LANDED.map(([name]) => name);
  const missing = readdirSync(folder).filter((name) => !landed.includes(name));
  const lines = missing.sort().map((name) => `  ['${name}', '${hashOf(name)}'],`);
  expect(
    lines,
    `when its SQL is final and formatted, add at the end of LANDED in ${import.meta.url.replace(/^.*\//, '')}:\n${lines.join('\n')}`,
  ).toEqual([]);
});

it('migrations are listed in the order in which they run, so new ones run last', () => {
  const landed = LANDED.map(([name]) => name);
  expect(landed).toEqual(landed.toSorted());
});

it('no two migrations have the same number', () => {
  const numbers = readdirSync(folder).map((name) => name.slice(0, 4));
  expect(numbers).toEqual([...new Set(numbers)]);
});
