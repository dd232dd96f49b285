/** Run inside the sandbox, PORT TOKEN: prints the statuses of ordinary requests. */

import { accountStatus } from './account.ts';
import { ask } from './requests.ts';

const analyses = 20;
const [port, token = ''] = process.argv.slice(2);
const server = { url: `http://127.0.0.1:${port}`, port: Number(port), token };
const get = async (path: string) => (await fetch(`${server.url}${path}`)).status;
const statuses = [
  await get('/health'),
  await get('/ready'),
  await get('/metrics'),
  await get('/'),
  await accountStatus(server, 'sign-up', 'one@home.example'),
  await accountStatus(server, 'log-in', 'one@home.example'),
];
for (let count = 0; count < analyses; count++) statuses.push((await ask(server, 'inside')).status);
console.log(statuses.join(' '));
