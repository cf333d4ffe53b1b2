package wire

// JSON-RPC error codes for refused messages.
const (
	CodeParse          = -32700 // the message is not strict JSON
	CodeInvalidRequest = -32600 // the message is not a JSON-RPC message
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// A Fault explains why a client's message is refused. If [Parse] refuses a message, no part of it
// may be executed.
type Fault struct {
	Code    int
	Message string
	Data    []byte // further data about the fault; nil: none
	ID      []byte // request ID as written; nil if it cannot be read

	// Silent means that the message seems to be a response. Responses must not be answered.
	Silent bool
}

// NewFault returns a fault without data. It also has no ID, because the caller knows the ID.
func NewFault(code int, message string) *Fault { return &Fault{Code: code, Message: message} }

func (f *Fault) Error() string { return f.Message }

// Append appends the JSON-RPC error that answers the message.
func (f *Fault) Append(dst []byte) []byte {
	return AppendError(dst, f.ID, f.Code, f.Message, f.Data)
}

func invalidParams(id []byte, message string) *Fault {
	return &Fault{Code: CodeInvalidParams, Message: "invalid params: " + message, ID: id}
}
