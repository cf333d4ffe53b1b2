package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tools of each upstream.
const (
	toolEcho      = "echo" // not restricted
	toolPay       = "pay"  // limited per session, for all upstreams together
	toolForbidden = "forbidden"
	toolSend      = "send" // on u1: limited, restored by refresh
	toolRefresh   = "refresh"
	toolTick      = "tick"   // limited per unit of time
	toolBackup    = "backup" // on u2 and the last upstream: required before delete
	toolDelete    = "delete"
	toolBuild     = "build" // on u3: a workflow
	toolTest      = "test"
	toolDeploy    = "deploy"
)

const (
	maxPay  = 15
	maxSend = 3
	maxTick = 40 // per second
)

// rules returns the policy for the given number of upstreams, except for the workflow.
func rules(upstreams int) string {
	last := name(upstreams - 1)
	return strings.Join([]string{
		"block forbidden",
		fmt.Sprintf("limit pay to %d per session", maxPay),
		fmt.Sprintf("limit u1_send to %d per %s_refresh", maxSend, last),
		fmt.Sprintf("limit tick to %d per second", maxTick),
		"require u2_backup before u2_delete",
		fmt.Sprintf("require %s_backup before %[1]s_delete", last),
		"",
	}, "\n")
}

// workflow is a net whose transitions fire when a call has succeeded.
const workflow = `{
	"name": "workflow", "places": ["idle", "built", "tested"], "initialMarking": {"idle": 1},
	"transitions": [
		{"name": "build", "inputs": ["idle"], "outputs": ["built"], "tools": ["u3_build"], "deferred": true},
		{"name": "test", "inputs": ["built"], "outputs": ["tested"], "tools": ["u3_test"], "deferred": true},
		{"name": "deploy", "inputs": ["tested"], "outputs": ["idle"], "tools": ["u3_deploy"], "deferred": true}
	]
}`

func name(upstream int) string { return fmt.Sprintf("u%d", upstream+1) }

// overHTTP reports whether an upstream uses HTTP, as every second one does.
func overHTTP(upstream int) bool { return upstream%2 == 1 }

// writeConfig writes the configuration for petrigate serve.
func (p *plant) writeConfig() error {
	servers := map[string]any{}
	for i := range p.options.upstreams {
		u := map[string]any{"timeout": "2s"}
		if overHTTP(i) {
			u["url"] = "http://" + p.wild[i].addr + "/mcp"
		} else {
			u["command"], u["args"] = p.self, p.upstreamArgs(i)
		}
		servers[name(i)] = u
	}
	config, err := json.Marshal(map[string]any{
		"version": 1, "mcpServers": servers, "startup": "5s",
		"rules": rules(p.options.upstreams), "nets": []any{json.RawMessage(workflow)},
		"audit": map[string]any{"file": p.auditFile()}, "log": map[string]any{"level": "warn", "format": "json"},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(p.configFile(), config, 0o600) // JSON is also YAML
}

func (p *plant) configFile() string { return filepath.Join(p.options.dir, "petrigate.yaml") }
func (p *plant) auditFile() string  { return filepath.Join(p.options.dir, "audit.jsonl") }
