/** The paths of the account page: the only ones that look at cookies. */
import type { ErrorCode } from '../runtime/errors.ts';
import { json, type Operation } from './operation.ts';
import { type SchemaName, schemaRef } from './schemas.ts';

type Account = Omit<Operation, 'tag' | 'path' | 'security' | 'description' | 'codes' | 'ok' | 'invalid'> & {
  /** Below /account/api. */
  readonly path: string;
  readonly description?: string;
  readonly takes?: SchemaName;
  readonly gives: SchemaName;
  /** True where nobody needs to be logged in. */
  readonly open?: true;
  readonly codes?: readonly ErrorCode[];
};

const page = 'For the account page, JSON both ways; programs use tokens.';
const ownOrigin = 'The header Origin must be that of the service.';
const guarded: readonly ErrorCode[] = ['too_large', 'invalid', 'rate_limited'];

function account({ path, takes, gives, open, description, codes = [], ...rest }: Account): Operation {
  const words = [description, page, ...(rest.method === 'post' ? [ownOrigin] : [])];
  return {
    ...rest,
    path: `/account/api/${path}`,
    tag: 'Account',
    description: words.filter((sentence) => sentence !== undefined).join(' '),
    security: open ? [] : [{ session: [] }],
    ...(takes && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaRef(takes) } } },
    }),
    ok: json(gives),
    invalid: 'AccountValidationFailure',
    codes: [
      ...(open ? [] : (['unauthenticated'] as const)),
      ...(rest.method === 'post' ? (['forbidden'] as const) : []),
      'misdirected',
      'storage_unavailable',
      ...(takes ? guarded : []),
      ...codes,
    ],
  };
}

const get = { method: 'get' } as const;
const post = { method: 'post' } as const;

export const accountOperations: readonly Operation[] = [
  account({
    ...get,
    path: 'session',
    operationId: 'session',
    summary: 'Who is logged in',
    gives: 'Session',
    open: true,
  }),
  account({
    ...post,
    path: 'sign-up',
    operationId: 'signUp',
    summary: 'Make an account and log in',
    description: 'The very first account is the administrator. 403 when sign-up is closed.',
    takes: 'SignUp',
    gives: 'Session',
    open: true,
  }),
  account({
    ...post,
    path: 'log-in',
    operationId: 'logIn',
    summary: 'Log in',
    takes: 'LogIn',
    gives: 'Session',
    open: true,
    codes: ['unauthenticated'],
  }),
  account({
    ...post,
    path: 'log-out',
    operationId: 'logOut',
    summary: 'Log out',
    gives: 'Empty',
    open: true,
  }),
  account({
    ...post,
    path: 'password',
    operationId: 'changePassword',
    summary: 'Change the password',
    description: 'Ends every other session; with `revoke_tokens` every token of the account too.',
    takes: 'PasswordChange',
    gives: 'Empty',
  }),
  account({
    ...post,
    path: 'remove',
    operationId: 'removeAccount',
    summary: 'Delete the account and its tokens',
    takes: 'Removal',
    gives: 'Empty',
  }),
  account({ ...get, path: 'tokens', operationId: 'listTokens', summary: 'List tokens', gives: 'Tokens' }),
  account({
    ...post,
    path: 'tokens',
    operationId: 'createToken',
    summary: 'Make a token',
    takes: 'TokenRequest',
    gives: 'NewToken',
  }),
  account({
    ...post,
    path: 'tokens/{id}/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'Id of the token.', schema: { type: 'string' } },
    ],
    gives: 'Empty',
    codes: ['not_found'],
  }),
  account({
    ...post,
    path: 'playground-token',
    operationId: 'playgroundToken',
    summary: 'A token of both scopes for 15 minutes',
    description: 'It is not listed, and ends with the session.',
    gives: 'PlaygroundToken',
    codes: ['rate_limited'],
  }),
];
