# Kills processes when the one that started them is gone in any way, and then removes the folder $1, and the cgroups named $2 if that is given.
#
# Standard input is a pipe whose other end that process holds. A line "+ PID" adds a process, "- PID" removes it. Each process adds itself
# before it becomes etcd or the API server, and holds the pipe until then: the end of input comes only after the last of them is known.
trap '' HUP INT TERM

pids=' '
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    # A process may be stopped before it has added itself.
    -) case $pids in *" $pid "*) pids="${pids%% $pid *} ${pids#* $pid }" ;; esac ;;
  esac
done

# After a clean stop the list is empty.
[ -z "${pids# }" ] || kill -KILL $pids 2>/dev/null
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }

# A cgroup can be removed only when no process and no cgroup is left in it. With cgroup v1, each controller has its own hierarchy.
[ -n "${2-}" ] || exit 0
for cgroup in /sys/fs/cgroup/"$2" /sys/fs/cgroup/*/"$2"; do
  [ ! -d "$cgroup" ] || find "$cgroup" -depth -type d -exec rmdir {} \;
done
