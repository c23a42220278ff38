// From the tasks of a DAG to boxes: folding and the critical path. Nothing here touches the page.
import { millis } from './format.js';

export const WIDTH = 132;
export const HEIGHT = 46;
const FOLD_FROM = 150; // tasks in all
const FOLD_AT_LEAST = 4; // tasks in one box
const WORST = ['FAILED', 'PAUSED', 'BACKING_OFF', 'RUNNING', 'SUSPENDED', 'READY', 'PENDING', 'CANCELLED', 'COMPLETED', 'SKIPPED'];

/** The tasks that come after each task. */
function followers(tasks) {
  const after = new Map(tasks.map(task => [task.name, []]));
  tasks.forEach(task => task.after.forEach(parent => after.get(parent)?.push(task.name)));
  return after;
}

/**
 * The boxes of a graph. In a large one, tasks with the same tasks before and after them share a box. That depends on
 * the graph and not on states, so no change of state moves a box.
 */
export function fold(tasks, unfolded) {
  const next = followers(tasks);
  const groups = new Map();
  for (const task of tasks) {
    const key = tasks.length > FOLD_FROM ? JSON.stringify([[...task.after].sort(), [...next.get(task.name)].sort()]) : task.name;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(task);
  }
  const boxOf = new Map();
  const boxes = [];
  for (const group of groups.values()) {
    const folded = group.length >= FOLD_AT_LEAST && !unfolded.includes(group[0].name);
    for (const members of folded ? [group] : group.map(task => [task])) {
      const box = { name: members[0].name, tasks: members, after: [] };
      boxes.push(box);
      members.forEach(task => boxOf.set(task.name, box));
    }
  }
  for (const box of boxes) {
    box.after = [...new Set(box.tasks.flatMap(task => task.after).map(parent => boxOf.get(parent)).filter(Boolean))];
  }
  return boxes;
}

/** The worst state of the tasks of a box. */
export const stateOf = tasks => WORST.find(state => tasks.some(task => task.state === state)) ?? 'PENDING';

const STILL = new Set(['SKIPPED', 'CANCELLED']);

/** The names of the tasks on the path that decides when the graph ends. */
export function criticalPath(tasks, now) {
  const byName = new Map(tasks.map(task => [task.name, task]));
  const known = new Map();
  const finish = name => {
    if (known.has(name)) return known.get(name);
    known.set(name, 0);
    const task = byName.get(name);
    const parents = Math.max(0, ...task.after.filter(parent => byName.has(parent)).map(finish));
    const end = STILL.has(task.state) ? 0 : millis(task.ended_at) ?? (task.started_at ? now : parents + 1);
    known.set(name, end);
    return end;
  };
  const latest = names => names.reduce((best, name) => (best == null || finish(name) > finish(best) ? name : best), null);
  const path = [];
  let name = latest(tasks.map(task => task.name));
  while (name != null && finish(name) > 0) {
    path.unshift(name);
    name = latest(byName.get(name).after.filter(parent => byName.has(parent)));
  }
  return path;
}
