package wire

const (
	keyProgressToken      = "progressToken"
	keyProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	keyClientInfo         = "io.modelcontextprotocol/clientInfo"
	keyClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel           = "io.modelcontextprotocol/logLevel"
	keyServerInfo         = "io.modelcontextprotocol/serverInfo"
	keySubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	keyRelatedTask        = "io.modelcontextprotocol/related-task"
)
