package spec

import (
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Reasons why a client's request is canceled.
var (
	ErrCancelled = errors.New("cancelled by the client") // the client has sent notifications/cancelled
	ErrGone      = errors.New("the client has disconnected")
	ErrClosing   = errors.New("the proxy is stopping")
)

// A CancelReason is an [ErrCancelled] with the reason that the client has given in
// notifications/cancelled. The server receives this reason as well.
type CancelReason string

func (w CancelReason) Error() string        { return string(w) }
func (w CancelReason) Is(target error) bool { return target == ErrCancelled }

// JSON-RPC error codes in the proxy's own answers.
const (
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error codes defined by revision 2026-07-28.
const (
	CodeHeaderMismatch    = -32020
	CodeMissingCapability = -32021
)

// UnsupportedVersion returns the error that revision 2026-07-28 defines for an unsupported protocol
// version.
func UnsupportedVersion(version string) *wire.Fault {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError().Error
	data, err := json.Marshal(e.Data)
	if err != nil {
		return wire.NewFault(CodeInternal, "could not encode an answer")
	}
	return &wire.Fault{Code: e.Code, Message: e.Message, Data: data}
}
