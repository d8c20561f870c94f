# Ends the processes of a control plane when their supervisor is gone, however it went.
#
# Standard input is a socket whose other end the supervisor holds. A line "+ PID" adds a process, "- PID" takes it off
# the list. Each process adds itself before it becomes etcd or the API server, and holds the socket until then, so none
# can slip through: the end of input comes only after the last of them is known.
#
# $1 is a folder to remove at the end, or empty.
trap '' HUP INT TERM

pids=
while read -r sign pid; do
  kept=
  for known in $pids; do
    [ "$known" = "$pid" ] || kept="$kept $known"
  done
  pids=$kept
  [ "$sign" = + ] && pids="$pids $pid"
done

# After a clean end the list is empty. Otherwise nobody is left who waits for a clean end: etcd's log survives a kill.
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
[ -z "$1" ] || rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
