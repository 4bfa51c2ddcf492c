#!/bin/sh
# Stays beside one control plane and outlives its owner by a moment. Standard input is a pipe that only the owner
# holds: when it ends, however the owner ended, every process of the control plane is killed and its folder removed.
# Its logs are moved to the folder `keep` before, if one is named. Called with no input at all it cleans up after a control plane whose watcher was killed too.
folder=$1
keep=$2
here=$(dirname "$0")
trap '' HUP INT TERM

while read -r _; do :; done

# A number in a file may by now belong to a stranger: only a process that names the folder is ours.
ours() {
  [ ! -d /proc/self ] || grep -qsF "$folder" "/proc/$1/cmdline"
}

# The controller-manager makes the directories of claims in a fixed place that all control planes share. etcd's
# files name the ones of this control plane. Simulated pods write nothing, so they are empty.
remove_claims() {
  grep -rhaosE '/tmp/hostpath_pv/[0-9a-f-]{36}' "$folder/etcd" | sort -u | while read -r claim; do
    rmdir "$claim" 2>/dev/null
  done
  rmdir /tmp/hostpath_pv 2>/dev/null
}

# What real nodes have outside of the folder; the folder stays until all of that is gone, as it says what that is.
clear_nodes() {
  [ ! -d "$folder/nodes" ] || sh "$here/node/clear.sh" "$folder"
}

# Everything that wrote there is gone by now. An operator of a test logs to the same place.
keep_logs() {
  [ -z "$keep" ] || [ ! -d "$folder/logs" ] || { mkdir -p "$keep" && mv "$folder/logs" "$keep/$(basename "$folder")"; }
}

# A folder that cannot be removed, such as another user's, is given up in the end.
tries=0
while [ -d "$folder" ] && [ $((tries += 1)) -le 300 ]; do
  for file in "$folder"/pids/*; do
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    [ -n "$pid" ] && ours "$pid" && kill -9 "$pid" 2>/dev/null
  done
  remove_claims
  clear_nodes && keep_logs && rm -rf "$folder" 2>/dev/null && break
  sleep 0.1
done
exit 0
