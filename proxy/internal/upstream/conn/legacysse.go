package conn

// TransportSSE is the transport HTTP+SSE of revision 2024-11-05.
const TransportSSE = "sse"
