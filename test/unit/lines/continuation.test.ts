import { expect } from 'chai';
import { Continuation, continues } from '../../../server/lines/continuation.ts';

/** Returns the entries that the lines of a text make. */
function entriesOf(text: string): string[] {
  const continuation = new Continuation();
  const entries: string[] = [];
  for (const line of text.split('\n'))
    if (continuation.next(line) === 'begins') entries.push(line);
    else entries.push(`${entries.pop()}\n${line}`);
  return entries;
}

/** Checks that each text is one entry, and that what stands before and behind it are others. */
function check(...traces: readonly string[]): void {
  const entries = ['2026-11-20 10:00:00 INFO before', ...traces, '2026-11-20 10:00:01 INFO behind'];
  expect(entriesOf(entries.join('\n'))).to.deep.equal(entries);
}

describe('the lines of an entry', () => {
  it('are those of a Python traceback, with its causes', () => {
    check(`ERROR    2026-11-30 14:39:40,944 [MainThread] it broke
Traceback (most recent call last):
  File "/srv/py.py", line 10, in <module>
    try: f()
         ^^^
ValueError: bad

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/py.py", line 11, in <module>
    raise RuntimeError('outer') from e
RuntimeError: outer`);
    check(
      `ERROR    2026-11-30 14:39:40,975 [MainThread] grouped
  + Exception Group Traceback (most recent call last):
  |   File "/srv/py.py", line 14, in <module>
  | ExceptionGroup: g (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: a
    +------------------------------------`,
    );
  });

  it('end with the exception of a traceback', () => {
    expect(
      entriesOf(
        'ERROR:root:x\nTraceback (most recent call last):\n  File "a"\nValueError: x\nnext',
      ),
    ).to.have.length(2);
  });

  it('are those of a Java stack trace', () => {
    check(
      `2026-11-20 10:00:00,123 [main] ERROR com.example.Shop - it broke
java.lang.RuntimeException: outer
\tat E.main(E.java:1)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)
\tSuppressed: java.io.IOException: closing
\t\t... 8 more
Caused by: java.lang.IllegalStateException: deep
\tat E.g(E.java:1)
\t... 8 more`,
      `Exception in thread "main" java.lang.RuntimeException: end
\tat E.main(E.java:1)`,
    );
  });

  it('are those of an error and an object that Node prints', () => {
    check(
      `Error: outer
    at Object.<anonymous> (/srv/n.js:1:9)
    ... 4 lines matching cause stack trace ...
    at node:internal/main/run_main_module:28:49 {
  code: 'X',
  info: { a: [ 1, 2 ] },
  [cause]: TypeError: inner
      at Object.<anonymous> (/srv/n.js:1:34)
}`,
      `{
  user: {
    name: 'a',
    list: [
      'x',
    ]
  },
}`,
      `/srv/n.js:3
throw e;
^

Error: outer
    at Object.<anonymous> (/srv/n.js:1:9)
    at node:internal/main/run_main_module:28:49

Node.js v20.20.2`,
      'listening on 3000',
    );
  });

  it('are those of a Go panic', () => {
    check(
      `panic: assignment to entry in nil map

goroutine 1 [running]:
main.(*T).set(...)
\t/srv/main.go:4
main.main()
\t/srv/main.go:14 +0x585
exit status 2`,
      `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x466cb6]

goroutine 18 [chan receive, 2 minutes]:
net/http.(*conn).serve(0xc0000a6000, {0x6f1a38, 0xc000012120})
\t/usr/local/go/src/net/http/server.go:2009 +0x5f4
created by net/http.(*Server).Serve in goroutine 1
\t/usr/local/go/src/net/http/server.go:3086 +0x5cb`,
    );
  });

  it('are those of a Rust panic', () => {
    check(`thread 'main' (22138) panicked at m.rs:1:54:
index out of bounds: the len is 0 but the index is 1
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/5980/library/std/src/panicking.rs:689:5
   5: m::main
note: Some details are omitted, run with \`RUST_BACKTRACE=full\` for a verbose backtrace.`);
  });

  it('are those of PHP', () => {
    check(`PHP Fatal error:  Uncaught Exception: x in /srv/a.php:3
Stack trace:
#0 /srv/a.php(5): f()
#1 {main}
  thrown in /srv/a.php on line 3`);
  });

  it("are PostgreSQL's DETAIL, HINT, CONTEXT and STATEMENT, with its tabs", () => {
    check(
      `2026-11-30 15:46:47.502 CET [23091] postgres@shop ERROR:  duplicate key value
2026-11-30 15:46:47.502 CET [23091] postgres@shop DETAIL:  Key (id)=(1) already exists.
2026-11-30 15:46:47.502 CET [23091] postgres@shop STATEMENT:  insert into t
\t  values (1)`,
      `2026-11-30 15:46:48 CET [23160]: [10-1] user=postgres,db=shop WARNING:  careful
2026-11-30 15:46:48 CET [23160]: [11-1] user=postgres,db=shop HINT:  do not
2026-11-30 15:46:48 CET [23160]: [12-1] user=postgres,db=shop CONTEXT:  PL/pgSQL function`,
    );
  });
});

describe('a further line of an exception', () => {
  it('belongs to it where the message has two lines', () => {
    check(`2026-11-20 10:00:00 ERROR it broke
java.lang.RuntimeException: outer
second line of outer
\tat E.main(E.java:1)
Caused by: java.io.IOException: io bad
second line of message
third line of message
\tat E.main(E.java:1)
\t... 8 more`);
    expect(
      entriesOf('2026-11-20 10:00:00 ERROR a\njava.lang.MyError: b\nc\nd\n\tat E.f(E.java:1)\ne'),
    ).to.have.length(3);
    expect(
      entriesOf('ERROR a\nCaused by: java.io.IOException: x\n\tat E.f(E.java:1)\nnext'),
    ).to.have.length(2);
  });

  it('belongs to it where the class has no package', () => {
    check(
      `2026-11-20 10:00:00 ERROR it broke
MyEx: outer failed
\tat A.main(A.java:3)
Caused by: A$MyEx: inner
\tat A.main(A.java:3)`,
      `2026-11-20 10:00:00 ERROR it broke
A$MyEx: outer failed
\tat A.main(A.java:3)`,
    );
    expect(entriesOf('2026-11-20 10:00:00 INFO a\nMyEx: b')).to.have.length(2);
    expect(entriesOf('2026-11-20 10:00:00 ERROR a\nRequest: b')).to.have.length(2);
  });

  it('belongs to it where .NET, PHP, Go and Ruby write it', () => {
    check(
      `[10:00:03 ERR] Request failed
System.InvalidOperationException: boom
   at Shop.Orders.Charge() in /srv/app/Orders.cs:line 10
--- End of stack trace from previous location ---
   at Shop.Orders.Pay() in /srv/app/Orders.cs:line 21`,
      '[10:00:04 INF] next',
      `PHP Fatal error:  Uncaught RuntimeException: x in /srv/a.php:3
Stack trace:
#0 {main}
Next InvalidArgumentException: y in /srv/a.php:5
Stack trace:
#0 {main}
  thrown in /srv/a.php on line 3`,
      `2026-11-30T15:16:37.148Z\tWARN\tshop\tdisk almost full
main.zapped
\tloggers/main.go:89
runtime.main
\t/usr/local/go/src/runtime/proc.go:283`,
      `E, [2026-11-30T15:20:47.156066 #2039] ERROR -- : card declined (ArgumentError)
ruby/loggers.rb:10:in 'charge'
ruby/loggers.rb:20:in \`<main>'`,
      "a.rb:1:in 'f': bad (ArgumentError)",
    );
    expect(entriesOf('2026-11-20 10:00:00 WARN a\nshop.example')).to.have.length(2);
    expect(entriesOf('ERROR a\nNext page: 2\nNext')).to.have.length(3);
  });
});

describe('a traceback', () => {
  it('belongs to an entry with a moment, a severity or the word of a failure', () => {
    const trace = 'Traceback (most recent call last):\n  File "x"\nValueError: bad';
    check(
      `2026-11-20 10:00:00 failed\n${trace}`,
      `ERROR failed\n${trace}`,
      `ERROR:root:failed\n${trace}`,
      `shop ERROR failed\n${trace}`,
      `10:00:00 took it\n${trace}`,
      // Python's handler of last resort.
      `charge failed\n${trace}`,
    );
  });

  it('is an entry of its own behind any other line of text, with its causes', () => {
    const trace = `Traceback (most recent call last):
  File "x"
ValueError: bad

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "x"
RuntimeError: outer`;
    check('job started', trace, 'job started', trace);
    const lines = trace.replace('bad', 'bad\nvalue').replaceAll('\n\n', '\n');
    expect(entriesOf(lines)).to.have.length(2);
  });
});

describe('a line', () => {
  it('that begins with a full moment behind a few blanks begins an entry', () => {
    check(
      '  2026-11-20T10:00:00.732501Z  INFO shop: order paid\n    at src/main.rs:25',
      '  2026-11-20T10:00:00.732539Z  WARN shop: disk\n    at src/main.rs:26',
      '2026-11-20 10:00:00 INFO table:\n        2026-11-20 10:00:00 one\n\t2026-11-20 10:00:00 two',
    );
  });

  it('that begins with a moment, a severity or an object begins an entry', () => {
    for (const line of [
      '2026-11-20 10:00:00 x',
      '[20/Nov/2026:10:00:00 +0000] x',
      'Nov 20 10:00:00 vm app: x',
      'I1120 10:00:00.000000 1 main.go:1] x',
      'I261120 10:00:00.000000 1 main.go:1] x',
      '11-20 10:00:00.123  1  2 E Tag: x',
      '26/11/20 10:00:00 INFO Tag: x',
      '261120 10:00:00 [Note] x',
      'ERROR: x',
      '[warn] x',
      ' INFO mod: x',
      '{"a":1}',
      'GET / 200',
      'Error: timeout',
      '#1 in the list',
    ])
      expect(continues(line), line).to.equal(false);
  });

  it('that is the first begins an entry, however it looks', () => {
    expect(new Continuation().next('\tat E.main(E.java:1)')).to.equal('begins');
  });

  it('without a trace before it begins an entry', () => {
    expect(entriesOf('a: b\nValueError: x\nmain.main()\n')).to.have.length(4);
  });
});
