# podman with storage of its own, so that the machine's images and containers are not touched.
podman_state=${SVC_IMAGE_DIR:-$root/.data/image}
podman_here() {
  podman --root "$podman_state/storage" --runroot "$podman_state/run" --runtime runc --cgroup-manager cgroupfs --log-level fatal "$@"
}
# Runs a container as an orchestrator would restrict it: only mounts are writable, no capabilities. Health checks are
# run by hand: podman's timer for them needs systemd, and its absence is not a fault.
podman_run() {
  podman_here run --pull=never --network host --read-only --read-only-tmpfs=false --cap-drop all \
    --security-opt no-new-privileges --ulimit nofile=8192:8192 --ulimit nproc=1024:1024 "$@"
}
