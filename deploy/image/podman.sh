# podman with storage of this project's own; nothing of the machine's images or containers is touched.
podman_state=${SVC_IMAGE_DIR:-$root/.data/image}
podman_here() {
  podman --root "$podman_state/storage" --runroot "$podman_state/run" --runtime runc --cgroup-manager cgroupfs --log-level fatal "$@"
}
# A container as an orchestrator would restrict it: nothing writable but what is mounted, no capabilities. Health checks are
# run by hand: the timer that podman wants for them needs systemd, and its lack is no fault.
podman_run() {
  podman_here run --pull=never --network host --read-only --read-only-tmpfs=false --cap-drop all \
    --security-opt no-new-privileges --ulimit nofile=8192:8192 --ulimit nproc=1024:1024 "$@"
}
