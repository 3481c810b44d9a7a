// Holds each resource given on stdin, a JSON list, to its kind's published schema; says what is wrong.
import * as kinds from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";

let text = "";
process.stdin.on("data", (part) => (text += part)).on("end", () => {
  for (const resource of JSON.parse(text)) {
    try {
      new kinds[resource.kind](resource).validate();
    } catch (wrong) {
      console.log(`${resource.kind}: ${wrong.message}`);
      process.exitCode = 1;
    }
  }
});
