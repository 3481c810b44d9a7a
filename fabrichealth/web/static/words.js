// Words of the page in two languages; names of devices and evidence stay as they are told.

const WORDS = {
  en: {
    skip: "Skip to the incidents", theme: "Light or dark", time: "Time", moment: "Moment",
    now: "Now", compare: "Compare with", incidents: "Incidents", fabric: "Fabric",
    domain: "Domain", every: "All", find: "Find", detail: "Detail",
    mapHelp: "Racks in blocks, accelerators and switches as cells, links as squares in them. " +
      "Click, or move with the arrow keys and press Enter; + and - zoom.",
    live: "live", past: "past", lost: "connection lost, trying again",
    nothing: "Nothing is wrong that we know of.", choose: "Choose an incident or a cell.",
    culprit: "Culprit", cause: "Cause", action: "What to do", confidence: "confidence",
    safe: "Safe to drain", drain: "drain", yes: "yes", no: "no", unknown: "unknown", victims: "Victims",
    since: "since", suppressed: "suppressed by", said: "operator said", alternatives: "Discarded",
    pauseTree: "Who waits for whom", story: "The story", links: "Links", state: "State",
    peer: "Other end", health: "Health", role: "Role", rack: "Rack", host: "Host",
    loop: "Loop", devices: "Devices", noPlots: "No readings in this span.", ends: "Both ends",
    better: "better", worse: "worse", opened: "Opened between the two moments",
    closed: "Over between the two moments", side: "suffers at", events: "What was done",
    unknownName: "There is nothing of this name.", busy: "busy", silent: "silent",
    none: "not said", page: "page", ticket: "ticket", watch: "watch", info: "info",
    healthy: "healthy", subhealthy: "subhealthy", down: "down", language: "中文",
    noReadings: "No readings of this moment: nothing is known.", ended: "over since",
    excused: "suppressed",
    lacks: "the store does not answer, states are not known:", asOf: "as of", waits: "waits for",
  },
  zh: {
    skip: "跳到事件列表", theme: "浅色或深色", time: "时间", moment: "时刻", now: "现在",
    compare: "与之比较", incidents: "事件", fabric: "互连网络", domain: "超节点域", every: "全部",
    find: "查找", detail: "详情",
    mapHelp: "每块为一个机柜，格子为加速卡或交换机，格内小块为链路。可点击，或用方向键移动、" +
      "回车打开；+ 和 - 缩放。",
    live: "实时", past: "历史", lost: "连接中断，正在重试", nothing: "目前没有已知的问题。",
    choose: "请选择一个事件或格子。", culprit: "根因对象", cause: "原因", action: "处置建议",
    confidence: "置信度", safe: "可安全隔离", drain: "待隔离", yes: "是", no: "否", unknown: "未知",
    victims: "受影响对象", since: "自", suppressed: "已抑制：", said: "值班人员标记",
    alternatives: "已排除", pauseTree: "谁在等谁", story: "完整说明", links: "链路", state: "状态",
    peer: "对端", health: "健康度", role: "角色", rack: "机柜", host: "主机", loop: "液冷回路",
    devices: "设备", noPlots: "该时段没有读数。", ends: "两端", better: "好转", worse: "变差",
    opened: "两个时刻之间新发生", closed: "两个时刻之间已结束", side: "受损端", events: "操作记录",
    unknownName: "没有这个名称的对象。", busy: "利用率", silent: "无响应", none: "无数据",
    page: "紧急", ticket: "工单", watch: "关注", info: "提示", healthy: "健康",
    subhealthy: "亚健康", down: "中断", language: "English",
    "device.down": "设备掉线", "link.down": "链路中断", "link.flapping": "链路闪断",
    "link.subhealthy": "链路亚健康", "link.degraded_speed": "链路降速",
    "link.will_fail": "链路即将失效", "optics.degrading": "光模块劣化",
    "optics.overheating": "光模块过热", "accelerator.errors": "加速卡报错",
    "parts.bad_batch": "批次缺陷", "parts.shared_component": "共用部件故障",
    "parts.version_drift": "版本不一致", "host.irq_misplaced": "中断绑核不当",
    "pfc.storm": "PFC 风暴", "pfc.deadlock": "PFC 死锁", "pfc.slow_receiver": "接收端过慢",
    "pfc.incast": "多打一拥塞", "pfc.ecn_misconfigured": "ECN 配置错误",
    "pfc.headroom_short": "缓冲余量不足", "fabric.hot_link": "热点链路",
    "fabric.ecmp_polarized": "ECMP 极化", "domain.hidden_idle": "隐藏空闲",
    "domain.straggler": "慢节点", "domain.fragmented": "资源碎片", "cooling.leak": "冷却液泄漏",
    "cooling.clogged": "支路堵塞", "cooling.filter_clogged": "过滤器堵塞",
    "cooling.pump_wear": "泵磨损", "cooling.flow_imbalance": "流量不均",
    "cooling.exchanger_fouled": "换热器结垢", "cooling.thermal_contact": "冷板接触不良",
    "cooling.condensation_risk": "结露风险", "cooling.sensor_drift": "传感器漂移",
    "cooling.supply_hot": "供液过热", "power.overload": "供电过载",
    "power.phase_imbalance": "三相不平衡", "power.feed_lost": "供电馈线丢失",
    "power.supply_failed": "电源模块故障", "power.capped": "功率受限",
    "power.meter_drift": "电表漂移", "watch.source_silent": "采集源无响应",
    "watch.data_implausible": "数据不可信", contaminated_connector: "连接器污染",
    damaged_fiber: "光纤受损", decaying_transmitter: "发射器老化", degraded_receiver: "接收器劣化",
    loose_or_bad_module: "模块松动或损坏", module_overheating: "模块过热",
    host_electrical: "主机侧电气问题", copper_cable: "铜缆问题", shared_component: "共用部件",
    bad_batch: "批次问题", peer_rebooted: "对端重启", maintenance: "维护", cooling: "冷却",
    power: "供电", congestion: "拥塞", accelerator: "加速卡", switch: "交换机", nic: "网卡",
    cdu: "CDU", pdu: "PDU", noReadings: "该时刻没有读数，状态未知。", ended: "结束于",
    excused: "已抑制", lacks: "存储无应答，状态未知：", asOf: "截至", waits: "等待",
    "type.device": "设备", "type.port": "端口", "type.link": "链路", "type.rack": "机柜",
    "type.loop": "液冷回路", "type.branch": "支路", "type.feed": "供电馈线", "type.job": "作业",
    "type.domain": "超节点域", "type.lot": "批次", "type.bundle": "光缆束", "type.card": "板卡",
    "type.source": "采集源", "type.accelerator": "加速卡",
    "Bit errors before FEC": "纠错前误码率", "Symbol errors /s": "符号错误 /秒",
    "Corrected bits /s": "已纠正比特 /秒", "Uncorrectable codewords /s": "不可纠正码字 /秒",
    "Received bytes /s": "接收字节 /秒", "Paused, share of time": "被暂停的时间占比",
    "Light received, dBm": "接收光功率 dBm", "Light sent, dBm": "发送光功率 dBm",
    "Laser bias, A": "激光器偏置电流 A", "Module, °C": "模块温度 °C", Utilisation: "利用率",
    "Chip, °C": "芯片温度 °C", "Power, W": "功率 W", "Feeds, W": "馈线功率 W",
    "Feeds, A": "馈线电流 A", "Coolant, °C": "冷却液温度 °C", "Flow, L/min": "流量 L/min",
    "Pressure, kPa": "压力 kPa", Reservoir: "储液量", Pumps: "泵转速", Wet: "漏液",
  },
};

let language = localStorage.getItem("language") || (navigator.language || "").slice(0, 2);
if (!(language in WORDS)) language = "en";

export const LANGUAGES = Object.keys(WORDS);

export function spoken() { return language; }

export function speak(next) {
  language = next;
  localStorage.setItem("language", next);
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
  for (const one of document.querySelectorAll("[data-say]")) one.textContent = say(one.dataset.say);
}

// The word in the language spoken; what has none stays as it is.
export function say(word) { return WORDS[language][word] ?? WORDS.en[word] ?? word; }

export function moment(at) {
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  return new Date(at * 1000).toLocaleString(locale, { timeZone: "UTC", hour12: false }) + " UTC";
}
