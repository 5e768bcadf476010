import { expect } from 'chai';
import { MANY, ONE, parseQuery, type Query, QueryInvalid } from '../../../server/search/query.ts';

/** A query in brackets, each part of it in short. */
function short(query: Query): string {
  if (query.kind === 'not') return `not ${short(query.part)}`;
  if (query.kind === 'regex') return `/${query.regex}/`;
  if (query.kind === 'text') return `~${pattern(query.text)}`;
  if (query.kind === 'field') {
    const { test } = query;
    const path = query.path.join('/');
    if (test.is === 'regex') return `${path}=/${test.value}/`;
    if (test.is === 'there') return `${path} there`;
    return test.is === 'like' ? `${path}=${pattern(test.value)}` : `${path}${test.is}${test.value}`;
  }
  return `(${[query.kind, ...query.parts.map(short)].join(' ')})`;
}

function pattern(parts: readonly unknown[]): string {
  return parts.map((part) => (part === MANY ? '%' : part === ONE ? '_' : part)).join('');
}

describe('a search query', () => {
  for (const [text, wanted] of [
    ['', '(and)'],
    ['   ', '(and)'],
    ['checkout', '~checkout'],
    ['checkout 500', '(and ~checkout ~500)'],
    ['checkout AND 500', '(and ~checkout ~500)'],
    ['checkout && 500', '(and ~checkout ~500)'],
    ['a OR b c', '(or ~a (and ~b ~c))'],
    ['a || b', '(or ~a ~b)'],
    ['(a OR b) c', '(and (or ~a ~b) ~c)'],
    ['( a OR (b) )', '(or ~a ~b)'],
    ['"a phrase" -not', '(and ~a phrase not ~not)'],
    ['NOT a', 'not ~a'],
    ['!a', 'not ~a'],
    ['--a', 'not not ~a'],
    ['+a -"b c" -(d e)', '(and ~a not ~b c not (and ~d ~e))'],
    ['-status:200', 'not status=200'],
    ['a - b', '(and ~a ~- ~b)'],
    ['level:error', 'level=error'],
    ['level: error', 'level=error'],
    ['status:>=500', 'status>=500'],
    ['status:>= 500', 'status>=500'],
    ['status:<500', 'status<500'],
    ['status:[500 TO 599]', '(and status>=500 status<=599)'],
    ['status:{500 TO *]', 'status>500'],
    ['path:/rpc/*', 'path=/rpc/%'],
    ['path:"/rpc/*"', 'path=/rpc/*'],
    ['metadata.user.id:42', 'metadata/user/id=42'],
    ['metadata."log.level":error', 'metadata/log.level=error'],
    ['"odd name":x', 'odd name=x'],
    ['user:*', 'user there'],
    ['level:(error OR warn OR "x y")', '(or level=error level=warn level=x y)'],
    ['level:(error)', 'level=error'],
    ['*part*', '~%part%'],
    ['pa?t', '~pa_t'],
    ['a\\*b\\ c', '~a*b c'],
    ['user:-5', 'user=-5'],
    ['a:b:c', 'a=b:c'],
    ['https://x.y/z', '~https://x.y/z'],
    ['10.0.0.1', '~10.0.0.1'],
    ['2026-11-20T10:00:00Z', '~2026-11-20T10:00:00Z'],
    ['GET /rest/v1/todos', '(and ~GET ~/rest/v1/todos)'],
    ['error!', '~error!'],
    ['foo-bar', '~foo-bar'],
    ['a@b.org', '~a@b.org'],
    ['üml 漢', '(and ~üml ~漢)'],
    ['and or not', '(or ~and ~not)'],
    ['a or b and c', '(or ~a (and ~b ~c))'],
    ['(or)', '~or'],
    ['a or', '(and ~a ~or)'],
    ['"or" a', '(and ~or ~a)'],
    ['not a', '(or not ~a ~not a)'],
    ['not (a)', 'not ~a'],
    ['could not  "connect it"', '(and ~could (or not ~connect it ~not  "connect it"))'],
    ['panic:', '~panic:'],
    ['a=b', 'a=b'],
    ['level=warn', '(or level=warn ~level=warn)'],
    ["a == 'b c'", 'a=b c'],
    ['a!=b', 'not a=b'],
    ['a=>b', '~a=>b'],
    ['a->b', '~a->b'],
    ['Map<String>', '~Map<String>'],
    ['a>5', 'a>5'],
    ['a <= -5', 'a<=-5'],
    ['level>warn', 'level>warn'],
    ['/a.*b/', '/a.*b/'],
    ['/a\\/b|c d/ e', '(and /a/b|c d/ ~e)'],
    ['/rest/', '~/rest/'],
    ['path:/rpc/v1.*', 'path=/rpc/v1.%'],
    ['path:/^\\/rpc/', 'path=/^/rpc/'],
    ['path:/v*/', 'path=/v%/'],
    ['_exists_:a.b', 'a/b there'],
    ['_missing_:a', 'not a there'],
    ['{a="b", c!="d"}', '(and a=b not c=d)'],
    ['größe/x-y.ключ:5', 'größe/x-y/ключ=5'],
    ['a:(b or /c+/)', '(or a=b a=/c+/)'],
    ['dXNlcg==', '~dXNlcg=='],
    ['"quoted \\" \\\\ x"', '~quoted " \\ x'],
    ['a:"AND"', 'a=AND'],
    ['a:AND', 'a=AND'],
    ['""', '~'],
  ] as const)
    it(`${JSON.stringify(text)} is ${wanted}`, () => {
      expect(short(parseQuery(text))).to.equal(wanted);
    });

  for (const [text, at, said] of [
    ['a OR', 5, 'a word, a "phrase", field:value or an opening bracket'],
    ['OR a', 1, 'got "OR a"'],
    ['a AND AND b', 7, 'got "AND b"'],
    ['(a', 3, 'a closing bracket at character 3, got the end'],
    ['a)', 2, 'got ")"'],
    ['()', 2, 'got ")"'],
    ['a "b', 3, 'a quote that is closed'],
    ['level:', 7, 'a value of level'],
    ['status:>', 9, 'what to compare with behind >'],
    ['status:>5*', 9, 'what to compare with behind >'],
    ['level:(error warn)', 14, 'OR, or a closing bracket'],
    ['level:(error OR)', 16, 'a value'],
    ['('.repeat(30), 22, 'at most 20 levels'],
    ['a '.repeat(60), 101, 'at most 50 conditions'],
  ] as const)
    it(`${JSON.stringify(text.slice(0, 20))} is refused at character ${at}`, () => {
      let error: unknown;
      try {
        parseQuery(text);
      } catch (caught) {
        error = caught;
      }
      expect(error).to.be.instanceOf(QueryInvalid);
      expect((error as QueryInvalid).message).to.include(said);
      expect((error as QueryInvalid).at + 1).to.equal(at);
    });
});
