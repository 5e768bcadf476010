/** A sleep that an event can end. */
export function createWaker() {
  let end: (() => void) | undefined;
  let awake = false;
  return {
    wake() {
      awake = true;
      end?.();
    },
    async sleep(ms: number, interruptible: boolean): Promise<void> {
      if (interruptible && awake) ms = 0;
      awake = false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, ms));
        end = () => {
          if (!interruptible) return;
          clearTimeout(timer);
          resolve();
        };
      });
      end = undefined;
    },
  };
}
