// Package rev describes the differences between two families of MCP revisions:
// [Rev2025], which consists of revision 2025-11-25 and those before it, and
// [Rev2026], which consists of revision 2026-07-28. The proxy uses both families
// with clients and with servers.
//
// Code that depends on the family uses a field or a method of the peer's [Rev].
// If the client and the server of a call use different families, the proxy
// translates. The last column of this table names the field or method of [Rev], or
// the package, that represents the difference. [Rev.Lacks] reports whether a family
// lacks a method altogether.
//
//	                                   Rev2025                               Rev2026                                     see
//
//	capabilities, client name          initialize, once per session          _meta of each request, server/discover      PerRequest
//	sessions over HTTP                 Mcp-Session-Id, GET stream            none                                        package front
//	headers that mirror the message    none                                  Mcp-Method, Mcp-Name, Mcp-Param-*           package front
//	a server's requests to the client  requests on the stream of the call    result input_required, then the call again  InputRequired
//	end of a URL-mode elicitation      elicitationId and a notification      not announced                               CompleteURL
//	level of log messages              logging/setLevel                      _meta of each request                       LevelInMeta
//	list and resource changes          notifications, resources/subscribe    subscriptions/listen                        Subscriptions
//	root changes                       notifications/roots/list_changed      not announced                               Lacks
//	tasks                              in the core: requested by the client  in an extension: created by the server      TaskExtension
//	result of a task                   tasks/result                          member of tasks/get                         TaskExtension
//	input for a task                   requests on tasks/result              inputRequests of tasks/get, tasks/update    TaskExtension
//	status changes of a task           notifications/tasks/status            notifications/tasks on a subscription       TaskExtension
//	list of tasks                      tasks/list                            none                                        Lacks
//	type of a result                   none                                  resultType                                  ResultType, Result
//	cache lifetime of a result         none                                  ttlMs, cacheScope                           Result
//	unknown resource                   error -32002                          error -32602                                NoResource
//	missing client capability          error -32601                          error -32021 with requiredCapabilities      packages session and spec
//	JSON-RPC errors over HTTP          status 200                            status 4xx for some errors                  package events
//
// Package upstream negotiates the revision with servers, and package wire defines the
// format of messages.
package rev
