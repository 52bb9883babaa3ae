// Long work in slices, so that the page stays alive.

/** Milliseconds of one slice. */
const SLICE = 10;

const tasks = new Map();
let waiting = false;

/** Works on a generator, a piece per `yield`, until it ends; one of the same name is dropped. Low numbers go first. */
export function work(name, priority, generator) {
  tasks.set(name, { priority, generator });
  if (!waiting) wait();
}

/** Whether nothing is left to do. */
export function isIdle() {
  return tasks.size === 0;
}

function wait() {
  waiting = true;
  setTimeout(slice, 0);
}

function slice() {
  waiting = false;
  const end = performance.now() + SLICE;
  while (tasks.size > 0 && performance.now() < end) {
    const [name, task] = [...tasks].reduce((best, next) => (next[1].priority < best[1].priority ? next : best));
    if (task.generator.next().done && tasks.get(name) === task) tasks.delete(name);
  }
  if (tasks.size > 0) wait();
}
