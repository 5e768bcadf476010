import { expect } from 'chai';
import { redact } from '../../../server/formats/redact.ts';

function check(input: string, expected: string): void {
  expect(redact(input), input).to.equal(expected);
}

function same(...inputs: string[]): void {
  for (const input of inputs) check(input, input);
}

describe('redact', () => {
  it('leaves text without personal data as it is', () => {
    same(
      '',
      'GET /rest/v1/todos?select=* 200',
      'connection received',
      'naïve – “quoted” 日本',
      '@',
      '::',
    );
  });

  it('hides IPv4 addresses', () => {
    check('192.168.1.1', 'REDACTED');
    check('from 10.0.0.1, 10.0.0.2.', 'from REDACTED, REDACTED.');
    check('192.168.1.1:5432', 'REDACTED:5432');
    check('10.0.0.0/8', 'REDACTED/8');
    check('host=10.0.0.1(5432)', 'host=REDACTED(5432)');
    check('ip_10.0.0.1_x', 'ip_REDACTED_x');
    check('{"ip":"10.0.0.1"}', '{"ip":"REDACTED"}');
    check('Chrome/113.0.0.0', 'Chrome/REDACTED');
    check('1.2.3.4.5', 'REDACTED.5');
    check('010.001.000.001', 'REDACTED');
    check('来自10.0.0.1的', '来自REDACTED的');
  });

  it('leaves numbers that are not IPv4 addresses', () => {
    same('256.1.1.1', '12192.168.1.11', 'v10.0.0.1', '10.0.0.1a', '1.2.3', '10.0.0.1234', '0.125');
  });

  it('hides IPv6 addresses, with their zones', () => {
    check('::1', 'REDACTED');
    check('2001:db8::1', 'REDACTED');
    check('2001:DB8:0:0:0:0:0:1', 'REDACTED');
    check('1:2:3:4:5:6:7::', 'REDACTED');
    check('::2:3:4:5:6:7:8', 'REDACTED');
    check('fd12:abcd::', 'REDACTED');
    check('fdaa:bbcc::face', 'REDACTED');
    check('fe80::1%eth0', 'REDACTED');
    check('fe80::1%eth0.100 up', 'REDACTED up');
    check('::ffff:192.168.1.1', 'REDACTED');
    check('64:ff9b::192.0.2.1', 'REDACTED');
  });

  it('hides IPv6 addresses beside punctuation', () => {
    check('[::1]:5432', '[REDACTED]:5432');
    check('[fe80::1%eth0]:80', '[REDACTED]:80');
    check('ip=2001:db8::1,', 'ip=REDACTED,');
    check('{"remote_addr":"2001:db8::1"}', '{"remote_addr":"REDACTED"}');
    check('2001:db8::/32', 'REDACTED/32');
    check('at 2001:db8::1.', 'at REDACTED.');
    check('2001:db8::1: refused', 'REDACTED: refused');
    check('2001:db8::: refused', 'REDACTED: refused');
    check('host:2001:db8::1', 'host:REDACTED');
    check('"host":2001:db8::1', '"host":REDACTED');
    check('peer:::1', 'peer:REDACTED');
    check('code:2001:db8::1:text', 'code:REDACTED:text');
    check('fe80::1.5353 > ff02::fb.5353', 'REDACTED.5353 > REDACTED.5353');
    check('::ffff:1.2.3.4:5432', 'REDACTED:5432');
    check('/2001:db8:0:0:0:0:0:1:5432', '/REDACTED:5432');
  });

  it('leaves times, code and other identifiers with colons', () => {
    same('12:30:45', '2026-01-01T12:30:45.123456+02:00', '12:30::', '00:00:00');
    same('::', 'std::cout', 'Foo::Bar', 'a::b', 'Foo::B2', 'f32::add(x)', 'A::B::C', 'xs[1::2]');
    same("select $1::date, 1::text, 2::bigint, 'x'::bytea, 1::dec");
    same('00:1a:2b:3c:4d:5e', '00:1a:2b:ff:fe:3c:4d:5e', 'SHA1 ab:cd:ef:01:23:45:67:89:ab:cd');
    same('f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '0/16B3748', '1:2:3');
  });

  it('hides e-mail addresses', () => {
    check('ann@example.com', 'REDACTED');
    check('<first.last+tag@mail.example.co.uk>', '<REDACTED>');
    check('user=ann@example.com, ok', 'user=REDACTED, ok');
    check('"email":"ann@example.com"', '"email":"REDACTED"');
    check('write to ann@example.com.', 'write to REDACTED.');
    check('jörg@exämple.de', 'REDACTED');
    check('a@xn--e1afmkf.xn--p1ai', 'REDACTED');
    check('?email=ann%2Btag%40example.com&x=1', '?email=REDACTED&x=1');
    check('postgres://ann:secret@db.example.com/x', 'postgres://ann:REDACTED/x');
    check('root@10.0.0.1', 'root@REDACTED');
  });

  it('leaves at signs that make no e-mail address', () => {
    same('@supabase/auth-js', 'lodash@4.17.21', 'user@localhost', 'a @ b.com', 'x@y.z', '@@');
  });

  it('hides JWTs', () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    check(jwt, 'REDACTED');
    check(`token=${jwt}; Path=/`, 'token=REDACTED; Path=/');
    check(`Got ${jwt}.`, 'Got REDACTED.');
    check(`base64-${jwt}`, 'base64-REDACTED');
    check('eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0. x', 'REDACTED. x');
    check('eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn', 'REDACTED');
    check('ewogImFsZyI6IjEifQ.eyJzdWIiOiIxIn0.dBjf', 'REDACTED');
    same('eyJhbGciOiJIUzI1NiJ9', 'heyJude.foo.bar', 'eyJa.b');
  });

  it('hides bearer tokens and keeps the scheme', () => {
    check('Bearer xyz', 'Bearer REDACTED');
    check('authorization: bearer a1-B2._~+/==', 'authorization: bearer REDACTED');
    check('{"authorization":"Bearer sb_secret_x"}', '{"authorization":"Bearer REDACTED"}');
    check('Bearer eyJa.eyJb.c, next', 'Bearer REDACTED, next');
    check('auth=Bearer%20xyz&a=1', 'auth=Bearer%20REDACTED&a=1');
    check(String.raw`"Bearer ab\/cd\"`, String.raw`"Bearer REDACTED\"`);
    same('"token_type":"bearer","expires_in":3600', 'Bearer');
  });

  it('hides payment-card numbers', () => {
    check('4111111111111111', 'REDACTED');
    check('card 4111 1111 1111 1111, cvc 123', 'card REDACTED, cvc 123');
    check('4111-1111-1111-1111.', 'REDACTED.');
    check('"5555555555554444"', '"REDACTED"');
    check('2223003122003222', 'REDACTED');
    check('378282246310005 3782 822463 10005', 'REDACTED REDACTED');
    check('30569309025904 3056-930902-5904', 'REDACTED REDACTED');
    check('6011111111111117', 'REDACTED');
    check('3530111333300000', 'REDACTED');
    check('4222222222222', 'REDACTED');
    check('4000000000000000006', 'REDACTED');
    check('42 4111 1111 1111 1111 123', '42 REDACTED 123');
    check('4096 4111 1111 1111 1111', '4096 REDACTED');
    check('card-4111111111111111', 'card-REDACTED');
    check('1,4111111111111111', '1,REDACTED');
    check('4111111111111111.0', 'REDACTED');
    check('4111\t1111\t1111\t1111 4111_1111_1111_1111', 'REDACTED REDACTED');
  });

  it('leaves digits that are not payment-card numbers', () => {
    same('4111111111111112', '4111 1111 1111 1112', '1111111111111117', '0000000000000000');
    same(
      '411111111111111',
      '41111111111111111111',
      '4111  1111  1111  1111',
      '4111 1111-1111 1111',
    );
    same('4111111111111111a', 'x4111111111111111', '4111111111111111.25', '1.4111111111111111');
    same('41111111-1111-1111-1111-111111111111', 'abcd4111-1111-1111-1111-11111111abcd');
    same('41111111-1111-4114-8111-111111111111', '4111-1111-1111-1111-1111');
    same('1767225600000000', '1767225600000000.123', '1767225600000');
  });

  it('sees where a word begins after escapes of JSON, URLs and terminals', () => {
    check(String.raw`line\n10.0.0.1\t2001:db8::1`, String.raw`line\nREDACTED\tREDACTED`);
    check(String.raw`\u003cann@example.com\u003e`, String.raw`\u003cREDACTED\u003e`);
    check(String.raw`{\"ip\":\"::1\"}`, String.raw`{\"ip\":\"REDACTED\"}`);
    check(String.raw`\\n10.0.0.1`, String.raw`\\nREDACTED`);
    check('next=%2F%3Fip%3D10.0.0.1%26', 'next=%2F%3Fip%3DREDACTED%26');
    check('\u001b[1;32m10.0.0.1\u001b[0m', '\u001b[1;32mREDACTED\u001b[0m');
    check(String.raw`\u001b[32m::1\u001b[0m`, String.raw`\u001b[32mREDACTED\u001b[0m`);
  });

  it('hides what is written as in a URL or in JSON', () => {
    check('ip=2001%3Adb8%3A%3A1&x=1', 'ip=REDACTED&x=1');
    check('%5B2001%3adb8%3a%3a1%5D%3A443', '%5BREDACTED%5D%3A443');
    check('at=12%3A30%3A45', 'at=12%3A30%3A45');
    check('?u=ann%2540example.com&x=1', '?u=REDACTED&x=1');
    check(String.raw`{"u":"ann\u0040example.com"}`, '{"u":"REDACTED"}');
    check('"john doe"@example.com wrote', 'REDACTED wrote');
    check(String.raw`\"john doe\"@example.com`, 'REDACTED');
    check("o'brien@example.com, 'ann@example.com'", "REDACTED, 'REDACTED'");
    check('card=4111%201111%201111%201111&cvc=1', 'card=REDACTED&cvc=1');
    check('4111+1111+1111+1111', 'REDACTED');
    check('4111.1111.1111.1111', 'REDACTED');
    check('4111\u00a01111\u00a01111\u00a01111', 'REDACTED');
  });

  it('hides keys and tokens by their names and by how they begin', () => {
    check('Bearer: xyz, bearer=xyz', 'Bearer: REDACTED, bearer=REDACTED');
    check('key sb_secret_abcDEF123456_x.', 'key REDACTED.');
    check('tp_2ecac1ad63c5_abcdefghijklmnop-_x', 'REDACTED');
    check('GET /x?token=abc%2Bd&a=1', 'GET /x?token=REDACTED&a=1');
    check('/x?a=1&access_token=abc#y', '/x?a=1&access_token=REDACTED#y');
    check("/x?token=abc'def%20ghi#y", '/x?token=REDACTED#y');
    check('/x?a=1;token=abc&amp;secret=d', '/x?a=1;token=REDACTED&amp;secret=REDACTED');
    check('/x#access_token=abc', '/x#access_token=REDACTED');
    check('/x?token[]=abc', '/x?token[]=REDACTED');
    check('Bearer abc%2Bdef', 'Bearer REDACTED');
    check('next=%3Ftoken%3Dabc%26a%3D1', 'next=%3Ftoken%3DREDACTED%26a%3D1');
    check('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0', 'REDACTED');
    same('?tokens=3', 'sb_publishable_abcdef', 'tp_x', 'sb_secret_', 'http_2_requests_per_second');
  });

  it('hides the whole word where what it means is personal', () => {
    check('ip=192%2E0%2E2%2E7 x', 'REDACTED x');
    check(String.raw`{"u":"\u017eofie@example.com"}`, String.raw`{"u":"\u017eREDACTED"}`);
    check('mail=%C5%BEofie@example.com', 'mail=%C5%BEREDACTED');
    check('/x?t%6fken=abc, y', 'REDACTED, y');
    check('Bearer%09abcdef0123', 'REDACTED');
    check('sb%5Fsecret%5FabcDEF123', 'REDACTED');
    check('q=%2522ann%2540example.org%2522', 'q=%25REDACTED%2522');
    same('/a%20b%2Fc?x=1%2C2', String.raw`caf\u00e9`, '100%25');
  });

  it('hides every kind in one text', () => {
    check(
      'ann@example.com at 10.0.0.1 via [2001:db8::1]:443 paid by 4111111111111111, Bearer x',
      'REDACTED at REDACTED via [REDACTED]:443 paid by REDACTED, Bearer REDACTED',
    );
  });

  it('survives megabytes that start a match over and over', () => {
    for (const start of [
      'a@a.',
      '1 ',
      '4444 ',
      'x%40',
      'eyJ.',
      'bearer \\/',
      'Bearer x\\/',
      '\\/',
      "a'",
      '"a',
      'a%3A',
      '4111%20',
      '&token=',
    ]) {
      expect(redact(start.repeat(200_000))).to.be.a('string');
    }
  });
});
