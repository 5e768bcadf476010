/**
 * Opens a thing before the first case of a suite and closes it after the last one, since opening takes longer than most cases. Returns
 * the function that gives it to a case.
 */
export function opened<Thing>(
  open: (action: (thing: Thing) => Promise<void>) => Promise<void>,
): () => Thing {
  let there: { readonly thing: Thing } | undefined;
  let end = () => {};
  let life: Promise<void> = Promise.resolve();
  before(async function () {
    this.timeout(300_000);
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    await new Promise<void>((resolve, reject) => {
      life = open(async (thing) => {
        there = { thing };
        resolve();
        await ended;
      });
      life.catch(reject);
    });
  });
  after(async function () {
    this.timeout(300_000);
    end();
    await life;
  });
  return () => {
    if (!there) throw new Error('BUG: it is not open');
    return there.thing;
  };
}
