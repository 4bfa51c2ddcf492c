#!/bin/sh
# Runs a command that must not outlive its owner, such as a compiler, in the folder $1. Standard input is a pipe that
# only the owner holds: when it ends, however the owner ended, so do the command and all that it started, and the folder
# is removed. This shell has to lead a process group, for that is what is ended.
folder=$1
shift
exec 3<&0

"$@" </dev/null 3<&- &
command=$!

# The signal is for everybody else in the group; the command is given time to fall, as it may write until then.
(
  trap '' TERM
  while read -r _; do :; done
  kill -TERM 0
  tries=0
  while [ -d "$folder" ] && [ $((tries += 1)) -le 100 ]; do
    sleep 0.1
    rm -rf "$folder" 2>/dev/null
  done
) <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-

wait "$command"
status=$?
kill -9 "$watcher"
exit "$status"
