// Which step a simulated pod takes next: one jq program over the whole pod, so that the life of a pod can be read in
// one place. A stage of kwok is chosen when the program answers with its name; `rest` is the name of none.

import { downloads } from './downloads.ts';

/** The prefix of every annotation that the simulation reads. */
export const prefix = 'sim.baton.dev/';

/** The steps, each one stage. */
export type Step =
  | 'create'
  | 'start'
  | 'ready'
  | 'unready'
  | 'pull-error'
  | 'pull-backoff'
  | 'config-error'
  | 'end'
  | 'restart'
  | 'crash-backoff'
  | 'resume'
  | 'evict'
  | 'stop'
  | 'delete';

/** What an annotation asks for. One that concerns a container of another pod of the same parent says nothing here. */
const asked = `
def notes: .metadata.annotations // {};
def elsewhere: notes["${prefix}container"] as $name
  | $name != null and all(((.spec.initContainers // []) + .spec.containers)[]; .name != $name);
def note($name): if elsewhere then null else notes["${prefix}" + $name] end;
def download: (.metadata.labels // {})["${downloads.label}"] == "${downloads.component}";
`;

/** Words of the program: what the annotations ask for, and what the status says about the container concerned. */
const words = `${asked}
def fault: note("fault") // "";
def concerned: note("container") // .spec.containers[0].name;
def code: if fault == "oom-killed" then 137
  else (note("exit-code") // (if fault == "crash" then "1" else "0" end) | tonumber) end;
def phase: .status.phase // "Pending";
def here: concerned as $name
  | [((.status.initContainerStatuses // []) + (.status.containerStatuses // []))[] | select(.name == $name)][0] // {};
def waiting: here.state.waiting.reason // "";
def blocked: fault == "image-pull-error" or fault == "config-error";
def initial: concerned as $name | any((.spec.initContainers // [])[]; .name == $name);
def stuck: initial and (blocked or code != 0);
def begun: any((.status.containerStatuses // [])[]; .state.running != null);
def counted: any((.metadata.finalizers // [])[]; . == "batch.kubernetes.io/job-tracking");
def ends: .spec.restartPolicy != "Always" or code != 0;
`;

/** A Job only counts a pod that is deleted once the pod has an end, so that is written first. */
const program = `
if .metadata.deletionTimestamp then
  if counted and (phase == "Pending" or phase == "Running") then "stop" else "delete" end
elif phase == "Succeeded" or phase == "Failed" then "rest"
elif .status.containerStatuses == null and note("start-delay") then "create"
elif fault == "image-pull-error" then
  if waiting == "ImagePullBackOff" then "rest" elif waiting == "ErrImagePull" then "pull-backoff" else "pull-error" end
elif fault == "config-error" then
  if waiting == "CreateContainerConfigError" then "rest" else "config-error" end
elif waiting == "CrashLoopBackOff" then "resume"
elif (stuck and here.state.running == null) or (stuck or begun | not) then "start"
elif fault == "evicted" then "evict"
elif ends and (code == 0 or .spec.restartPolicy == "Never") then "end"
elif ends then if here.restartCount == 0 then "restart" else "crash-backoff" end
elif fault == "not-ready" then if here.ready then "unready" else "rest" end
elif here.ready == false then "ready"
else "rest" end
`;

/** Selects the pods whose next step this is. */
export const nextIs = (step: Step) => ({
  matchExpressions: [{ jq: { key: `${words}${program}`, operator: 'In', values: [step] } }],
});

/** How long a stage waits, in the words of kwok. */
export interface Delay {
  durationMilliseconds: number;
  durationFrom?: { jq: { expression: string } };
}

/** A delay that an annotation gives as a Go duration, like `2s`. */
export const delayOf = (annotation: string, milliseconds: number): Delay => ({
  durationMilliseconds: milliseconds,
  durationFrom: { jq: { expression: `${asked}note("${annotation}")` } },
});

/** How long a container runs that is going to end: a download takes its time, unless it is to fail. */
export const runFor: Delay = {
  durationMilliseconds: 500,
  durationFrom: {
    jq: {
      expression: `${asked}note("run-for") // (if download and note("fault") == null and note("exit-code") == null
        then "${downloads.seconds}s" else null end)`,
    },
  },
};
