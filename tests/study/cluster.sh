# A Slurm cluster of two nodes on loopback, for tests: munged, slurmctld and two slurmd, all as the present user, in one
# folder.
#   . tests/study/cluster.sh
#   cluster_start DIR     returns 1, with the logs shown, when it does not come up
#   cluster_kill_node N   kill -9 of a slurmd and of everything that runs on it
#   cluster_restart       stop the controller and start it again from its saved state
#   cluster_stop
# shellcheck shell=bash

# Four separate ports: two clusters at a time must not meet.
cluster_ports() {
  python3 - <<'PY'
import socket
s = [socket.socket() for _ in range(4)]
for x in s:
    x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])
PY
}

cluster_config() { # DIR CONTROLLER_PORT NODE_PORT NODE_PORT
  cat >"$1/slurm.conf" <<CONF
ClusterName=sluice-test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$2
AuthType=auth/munge
AuthInfo=socket=$1/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool.%n
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.%n.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=100000,bf_interval=1,sched_max_job_start=0
SchedulerType=sched/backfill
SlurmdTimeout=3
InactiveLimit=0
KillWait=1
MinJobAge=300
CompleteWait=0
ReturnToService=2
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=$3,$4 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60 State=UP OverSubscribe=NO
CONF
}

cluster_controller() {
  (cd "$CLUSTER" && exec slurmctld -D -f "$SLURM_CONF" >>"$CLUSTER/slurmctld.out" 2>&1) &
  CLUSTER_CONTROLLER=$!
}
# A node is a process namespace: when its first process, slurmd, is killed, everything on the "node" dies with it. How
# mounts propagate stays as it is, since that cannot be changed in a chroot, whose root is not a mount.
cluster_node() { # N
  local user=
  [ "$(id -u)" = 0 ] || user="--user --map-current-user"
  # shellcheck disable=SC2086
  (cd "$CLUSTER" && exec unshare $user --pid --fork --kill-child --propagation unchanged --mount-proc slurmd -D -N "n$1" -f "$SLURM_CONF" >>"$CLUSTER/slurmd.n$1.out" 2>&1) &
  CLUSTER_NODE[$1]=$!
}

cluster_start() { # DIR
  CLUSTER=$1
  CLUSTER_NODE=()
  PATH=$PATH:/usr/sbin
  mkdir -p "$CLUSTER/state" "$CLUSTER/spool.n1" "$CLUSTER/spool.n2"
  chmod 755 "$CLUSTER"
  export SLURM_CONF=$CLUSTER/slurm.conf
  # shellcheck disable=SC2046
  cluster_config "$CLUSTER" $(cluster_ports | cut -d' ' -f1-3)
  dd if=/dev/urandom of="$CLUSTER/munge.key" bs=128 count=1 status=none
  chmod 600 "$CLUSTER/munge.key"
  munged --force --key-file="$CLUSTER/munge.key" --socket="$CLUSTER/munge.sock" --pid-file="$CLUSTER/munged.pid" \
    --log-file="$CLUSTER/munged.log" --seed-file="$CLUSTER/munged.seed" --num-threads=2 2>"$CLUSTER/munged.out" || return 1
  cluster_controller
  cluster_node 1
  cluster_node 2
  for _ in $(seq 100); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return 0
    sleep 0.2
  done
  tail -n 20 "$CLUSTER"/*.out "$CLUSTER"/slurm*.log
  return 1
}

cluster_kill_node() { # N
  kill -9 "${CLUSTER_NODE[$1]}"
  wait "${CLUSTER_NODE[$1]}" 2>/dev/null
}

cluster_restart() {
  kill "$CLUSTER_CONTROLLER" && wait "$CLUSTER_CONTROLLER" 2>/dev/null
  sleep "${1:-1}"
  cluster_controller
}

cluster_stop() {
  local p
  kill -9 "${CLUSTER_NODE[@]}" 2>/dev/null
  kill "$CLUSTER_CONTROLLER" 2>/dev/null
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$CLUSTER_CONTROLLER" 2>/dev/null || break
    sleep 0.2
  done
  kill -9 "$CLUSTER_CONTROLLER" 2>/dev/null
  wait "${CLUSTER_NODE[@]}" "$CLUSTER_CONTROLLER" 2>/dev/null
  p=$(cat "$CLUSTER/munged.pid" 2>/dev/null) && kill "$p"
}
