# Prepares the network, mount and process namespaces that `unshare` has made, and then becomes the command "$@".
#
# The only interfaces are loopback and a bridge without ports that has the addresses of the API server and of the nodes: it drops what it sends, so no
# packet leaves. The folders in which a kubelet and containerd have fixed paths are empty here, and their files go with the namespaces.
set -eu

mount --make-rshared /
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done

ip link set lo up
ip link add node0 type bridge
ip address add 172.31.255.1/24 dev node0
ip link set node0 up
ip route add default dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward

exec "$@"
