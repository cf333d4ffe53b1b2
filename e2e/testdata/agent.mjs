// An agent that makes calls over streamable HTTP, by hand: many at once cost it nothing.

// connect begins a session at the MCP endpoint, for a client of the name. A call resolves to the
// body of the answer.
export const connect = async (url, name) => {
  let session, id = 0;
  const post = async (body) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
    if (session) headers['mcp-session-id'] = session;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
    session ??= response.headers.get('mcp-session-id');
    return response.text();
  };
  await post({ id: ++id, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } } });
  await post({ method: 'notifications/initialized' });
  return { call: (tool, args = {}) => post({ id: ++id, method: 'tools/call', params: { name: tool, arguments: args } }) };
};
