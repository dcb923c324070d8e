#!/usr/bin/python3
"""Draws docs/figures/dashboard.svg and dashboard-pool.svg from the page of `kubectl yad dashboard`.

    hack/dashboard-picture.py [PROGRAMS] [FOLDER]

PROGRAMS is the folder of yurtappdaemon-operator and kubectl-yad (default: build/release/bin). FOLDER is the folder for
the figures (default: docs/figures).

The script starts a control plane with hack/cluster.sh, the operator and the dashboard, creates 60 pools, and stops in
the middle of a rollout. page_svg.py converts the page in Chromium to SVG. This takes about three minutes.

It needs `make build`, `make assets`, and `hack/packages.sh browser`. KWOK simulates the kubelets, except for the new
pods in STARTING, which do not start, and in FAILING, where this script reports that the image can't be pulled.
"""
import datetime
import json
import pathlib
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/dashboard"))

from browser import Page, start_browser  # noqa: E402
from page_svg import draw  # noqa: E402

CANARY = ["beijing", "hangzhou", "shanghai", "xian"]
NORTH = """anyang baoding baotou cangzhou changchun dalian datong daqing handan harbin hohhot jilin jinan
  jining langfang lanzhou linyi luoyang qingdao qiqihar shenyang taiyuan tangshan tianjin weifang xining
  yantai zhengzhou""".split()
SOUTH = """changsha chengdu chongqing dongguan foshan fuzhou guangzhou guilin guiyang haikou hefei huizhou
  jiaxing kunming nanchang nanjing nanning ningbo quanzhou sanya shantou shenzhen suzhou wenzhou wuhan
  wuxi xiamen zhuhai""".split()
FAILING = "anyang"
STARTING = ["handan", "harbin", "jilin"]
HELD = "changchun"
OFFLINE = "hohhot"
NIGHT = ["tangshan", "tianjin", "weifang", "yantai"]  # updated only in their window

SOAK = 60      # seconds
GIVE_UP = 40   # seconds until the Deployment of FAILING has failed
TIMEOUT = 240  # seconds for one condition
WIDTH = 1120   # pixels of the page
PANEL = 600    # pixels of the panel

TITLE = ("The page of kubectl yad dashboard in the middle of a rollout to 60 pools. The group canary is done. In the "
         "group north, pools are ready, soaking, updating, held, offline, or wait for a slot or for their window, and "
         "one has failed. The group south needs approval.")
POOL_TITLE = ("The panel of a pool that has failed: its state, the message that names the cause, the diagnosis, its "
              "pods and its Events.")


class Cluster:
    """A control plane, the operator and the dashboard, as processes of this script."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.processes = []
        assets = subprocess.run([ROOT / "hack/assets.sh", "dir"], check=True, stdout=subprocess.PIPE, text=True)
        self.kubectl_program = pathlib.Path(assets.stdout.strip()) / "kubectl"

    def start(self):
        subprocess.run([ROOT / "hack/cluster.sh", "start", self.folder], check=True, stdout=subprocess.DEVNULL)
        self.kubectl("config", "rename-context", "test", "edge")
        self.kubectl("apply", "--server-side", "-f", ROOT / "crds")
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
        ports = free_ports(2)
        self.spawn("yurtappdaemon-operator", f"--health-probe-bind-address=127.0.0.1:{ports[0]}",
                   f"--metrics-bind-address=127.0.0.1:{ports[1]}", "--leader-elect=false", "--controllers=*,nodepool")

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        subprocess.run([ROOT / "hack/cluster.sh", "stop", self.folder], check=False, stdout=subprocess.DEVNULL)

    def spawn(self, program, *arguments, **options):
        with open(f"{self.folder}/{program}.log", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(
                [self.programs / program, f"--kubeconfig={self.folder}/kubeconfig", *arguments],
                stderr=log, **{"stdout": log, **options}))
        return self.processes[-1]

    def kubectl(self, *arguments, data=None):
        command = [self.kubectl_program, f"--kubeconfig={self.folder}/kubeconfig",
                   f"--cache-dir={self.folder}/kubectl-cache", *arguments]
        return subprocess.run(command, check=True, input=data, stdout=subprocess.PIPE, text=True).stdout

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", data=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def daemon(self):
        return json.loads(self.kubectl("get", "yurtappdaemon", "web", "-o", "json"))

    def phases(self):
        """Returns the phase of each pool by its name."""
        return {it["name"]: it["phase"] for it in self.daemon()["status"]["pools"]}

    def serve(self):
        """Starts the dashboard, and returns its address."""
        dashboard = self.spawn("kubectl-yad", "dashboard", "--no-open",
                               "--operator-namespace=yurtappdaemon-system", stdout=subprocess.PIPE, text=True)
        return dashboard.stdout.readline().removeprefix("Dashboard: ").strip()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


def eventually(what, condition):
    print(f"waiting: {what}", flush=True)
    Page.eventually(what, condition, TIMEOUT)


def pool(name, region):
    return {"apiVersion": "apps.openyurt.io/v1beta1", "kind": "NodePool", "spec": {"type": "Edge"},
            "metadata": {"name": name, "labels": {"example.com/tier": "shop", "example.com/region": region}}}


def node(name):
    resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": f"{name}-1", "labels": {"apps.openyurt.io/nodepool": name,
                                                         "kubernetes.io/hostname": f"{name}-1"}},
            "status": {"capacity": resources, "allocatable": resources}}


def daemon(image, strategy, overrides):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}}
    spec = {"replicas": 2, "progressDeadlineSeconds": GIVE_UP, "template": template}
    return {"apiVersion": "apps.openyurt.io/v1alpha1", "kind": "YurtAppDaemon",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}},
                     "nodepoolSelector": {"matchLabels": {"example.com/tier": "shop"}},
                     "workloadTemplate": {"deploymentTemplate": {"metadata": {"labels": {"app": "web"}}, "spec": spec}},
                     "updateStrategy": strategy, "overrides": overrides}}


def rollout():
    """Returns the strategy of the rollout."""
    def region(name):
        return {"name": name, "nodepoolSelector": {"matchLabels": {"example.com/region": name}}}
    groups = [{"name": "canary", "pools": CANARY}, region("north") | {"maxUnavailable": 7},
              region("south") | {"approval": "Manual", "maxUnavailable": "25%"}]
    return {"type": "RollingUpdate", "rollingUpdate": {"groups": groups, "maxUnavailable": 12, "maxFailures": 3,
                                                       "minReadySeconds": SOAK}}


def run_first_revision(cluster):
    regions = {name: "north" for name in NORTH} | {name: "south" for name in SOUTH}
    names = sorted(CANARY + NORTH + SOUTH)
    cluster.apply(*(pool(name, regions.get(name, "north")) for name in names), *(node(name) for name in names))
    cluster.apply(daemon("nginx:1.27", {"type": "All"}, []))
    eventually("the first revision runs in all pools",
               lambda: cluster.daemon().get("status", {}).get("readyPools") == len(names))


def prepare_pools(cluster):
    """Holds a pool, gives some pools a window that opens in four to five hours, and makes one pool Offline."""
    cluster.kubectl("annotate", "nodepool", HELD, "apps.openyurt.io/hold=stocktaking")
    opens = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=5)).strftime("%H:00")
    window = json.dumps([{"start": opens, "duration": "2h"}])
    cluster.kubectl("annotate", "nodepool", *NIGHT, f"apps.openyurt.io/update-windows={window}")
    cluster.kubectl("annotate", "node", f"{OFFLINE}-1", "kwok.x-k8s.io/status=custom")
    lost = {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}}
    cluster.kubectl("patch", "node", f"{OFFLINE}-1", "--subresource=status", "--type=strategic", "-p", json.dumps(lost))
    eventually(f"{OFFLINE} is offline", lambda: cluster.phases()[OFFLINE] == "Offline")


def fail_to_pull(cluster):
    """Gives the new pod of FAILING the status of a pod whose image can't be pulled."""
    selector = f"apps.openyurt.io/pool-name={FAILING}"

    def waiting_pods():
        pods = json.loads(cluster.kubectl("get", "pods", "-l", selector, "-o", "json"))["items"]
        return [it for it in pods if it["spec"]["containers"][0]["image"] == "nginx:1.28" and "nodeName" in it["spec"]]

    eventually(f"{FAILING} has a new pod", waiting_pods)
    status = {"phase": "Pending", "containerStatuses": [{
        "name": "web", "image": "nginx:1.28", "imageID": "", "ready": False, "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "nginx:1.28"'}}}],
        "conditions": [{"type": kind, "status": "False", "reason": "ContainersNotReady",
                        "message": "containers with unready status: [web]"} for kind in ("Ready", "ContainersReady")]}
    for it in waiting_pods():
        cluster.kubectl("patch", "pod", it["metadata"]["name"], "--subresource=status", "--type=strategic", "-p",
                        json.dumps({"status": status}))


def run_second_revision(cluster):
    """Runs the second rollout until there are pools in all states."""
    patch = {"spec": {"template": {"metadata": {"annotations": {"kwok.x-k8s.io/status": "custom"}}}}}
    cluster.apply(daemon("nginx:1.28", rollout(), [{"pools": [FAILING, *STARTING], "patch": patch}]))
    fail_to_pull(cluster)

    def in_the_middle():
        phases = cluster.phases()
        return (phases[FAILING] == "Failed" and all(phases[name] == "Updating" for name in STARTING)
                and "Soaking" in phases.values())

    eventually("the rollout is in its middle", in_the_middle)


def take_pictures(address, target):
    browser = start_browser()
    try:
        page = browser.execute_cdp_cmd
        page("Emulation.setScrollbarsHidden", {"hidden": True})
        page("Emulation.setDeviceMetricsOverride",
             {"width": WIDTH, "height": 2000, "deviceScaleFactor": 1, "mobile": False})
        browser.get(f"{address}#/default/web")
        Page.eventually("the tiles appear", lambda: browser.execute_script(
            "return document.querySelector('.tile.new') && document.querySelector('.actions button')"))
        (target / "dashboard.svg").write_text(draw(browser, TITLE, "body", "#board"))
        page("Emulation.setDeviceMetricsOverride",
             {"width": PANEL, "height": 2000, "deviceScaleFactor": 1, "mobile": False})
        browser.get("about:blank")
        browser.get(f"{address}#/default/web/pool/{FAILING}")
        Page.eventually("the panel appears", lambda: browser.execute_script(
            "return document.querySelector('#panel table')"))
        (target / "dashboard-pool.svg").write_text(draw(browser, POOL_TITLE, "#panel", "#panel > :last-child"))
    finally:
        browser.quit()


def main():
    programs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin").resolve()
    target = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/figures").resolve()
    with tempfile.TemporaryDirectory(prefix="yurtappdaemon-picture.") as folder:
        cluster = Cluster(programs, folder)
        try:
            cluster.start()
            run_first_revision(cluster)
            prepare_pools(cluster)
            run_second_revision(cluster)
            take_pictures(cluster.serve(), target)
        finally:
            cluster.stop()


main()
