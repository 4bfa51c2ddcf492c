#!/bin/sh
# The first process of a real node, in namespaces of its own: gives the node the folders and settings that it believes
# to be the machine's, and then waits. When it ends, the kernel ends everything else in the node.
set -eu
folder=$1
pause=$2
name=$(basename "$folder")

mount --make-rshared /
echo "$name" >/proc/sys/kernel/hostname

# The agents write to fixed places; each node has its own.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
mount --bind "$folder/lib" /var/lib
mount --bind "$folder/log" /var/log

# The kubelet insists on settings of the whole machine. It finds them as it wants them, and the machine keeps its own.
while read -r setting value; do
  file=$folder/settings/$(basename "$setting")
  echo "$value" >"$file"
  [ ! -e "/proc/sys/$setting" ] || mount --bind "$file" "/proc/sys/$setting"
done <<END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END

touch "$folder/mounted"
exec "$pause" "$folder"
