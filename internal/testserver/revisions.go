package testserver

import (
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A Revisions value selects the protocol revisions that a server supports.
type Revisions uint8

// Values of [Revisions]. The revisions of MCP form two families. A server that supports both
// determines the family separately for each request.
const (
	Both   Revisions = iota
	Legacy           // 2024-11-05 to 2025-11-25, with initialize and sessions
	Modern           // 2026-07-28, with server/discover and without sessions
)

const (
	modernVersion = "2026-07-28"
	latestLegacy  = "2025-11-25"

	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"

	capabilities = `{"logging":{},"tools":{"listChanged":true}}`
)

func legacyVersions() []string {
	return []string{latestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}
}

func (e Revisions) versions() []string {
	switch e {
	case Legacy:
		return legacyVersions()
	case Modern:
		return []string{modernVersion}
	}
	return append([]string{modernVersion}, legacyVersions()...)
}

const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	metaRelated    = "io.modelcontextprotocol/related-task"

	codeMissing = -32021
)

func stringList(all []string) string { return "[" + strings.Join(list.Map(all, quote), ",") + "]" }
