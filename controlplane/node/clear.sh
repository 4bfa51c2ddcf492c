#!/bin/sh
# Removes what the real nodes of one control plane have outside of their namespaces, after their processes were killed.
# Fails while something is still there, so that it is called again. Everything is found by what the folder says, and has
# a name of its own, so that nothing of a cluster that was started since is touched.
folder=$1
cgroup=$(basename "$folder")
PATH=$PATH:/usr/sbin:/sbin
left=0

# The first process of a node ends last, after all that was started in its namespace, and then the one that waits for it.
# A first process without its parent stays as a zombie until the machine's own first process looks after it: that is
# gone enough. A number can be another's by now.
for file in "$folder"/nodes/*/init; do
  [ -f "$file" ] || continue
  read -r pid began parent <"$file"
  ! grep -qsF "$folder" "/proc/$parent/cmdline" || left=1
  [ "$(cut -d' ' -f22 "/proc/$pid/stat" 2>/dev/null)" = "$began" ] || continue
  [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" = Z ] && continue
  kill -9 "$pid" 2>/dev/null
  left=1
done

# The kernel would remove it with the last network namespace, but sometimes only seconds later.
if read -r link 2>/dev/null <"$folder/nodes/link"; then
  ip link delete "$link" 2>/dev/null
  [ ! -e "/sys/class/net/$link" ] || left=1
fi

for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
  [ -d "$root/$cgroup" ] || continue
  find "$root/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
  [ ! -d "$root/$cgroup" ] || left=1
done

# Controllers that were off before (version 2 of cgroups). One that somebody else uses by now refuses, and stays.
if [ "$left" = 0 ] && [ -f "$folder/nodes/controllers" ]; then
  for controller in $(cat "$folder/nodes/controllers"); do
    echo "-$controller" >/sys/fs/cgroup/cgroup.subtree_control
  done 2>/dev/null
fi

exit "$left"
