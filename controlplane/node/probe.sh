#!/bin/sh
# Tries, in namespaces that vanish with it, what a real node asks of the kernel, and says by name what is missing.
folder=$1
nft=$2
PATH=$PATH:/usr/sbin:/sbin

try() {
  what=$1
  shift
  said=$("$@" 2>&1 >/dev/null) || echo "$what (${said:-no reason given})"
}

overlay() {
  mkdir -p "$folder/lower" "$folder/upper" "$folder/work" "$folder/merged" &&
    mount -t overlay -o "lowerdir=$folder/lower,upperdir=$folder/upper,workdir=$folder/work" overlay "$folder/merged" &&
    umount "$folder/merged"
}

rules() {
  "$nft" add table ip probe &&
    "$nft" 'add chain ip probe nat { type nat hook postrouting priority 100; }' &&
    "$nft" 'add rule ip probe nat ip daddr 192.0.2.1 masquerade' &&
    "$nft" 'add rule ip probe nat numgen random mod 2 vmap { 0 : accept, 1 : accept }'
}

try 'the overlay file system on the temporary folder' overlay
try 'pairs of virtual links (veth)' ip link add one type veth peer name two
try 'bridges' ip link add three type bridge
try 'filter rules with address translation (nf_tables)' rules
