// Package rev describes the differences between the two families of MCP revisions
// that the proxy speaks, to clients and to servers: [Rev2025], which is 2025-11-25
// and earlier revisions, and [Rev2026], which is 2026-07-28.
//
// Code that depends on the family uses a field or a method of the [Rev] of the
// peer in question. The client and the server of one call can speak different
// families; the proxy then translates.
//
//	what                              2025-11-25 and before                2026-07-28                                   where
//
//	capabilities, client name         initialize, once a session           _meta of each request, server/discover       PerRequest
//	session over HTTP                 Mcp-Session-Id, GET stream           none                                         front
//	headers that mirror the message   none                                 Mcp-Method, Mcp-Name, Mcp-Param-*            front
//	server requests to the client     a request on the stream of the call  result input_required, then the call again   InputRequired
//	end of a URL-mode elicitation     elicitationId, and a notification    none                                         CompleteURL
//	level of log messages             logging/setLevel                     _meta of each request                        LevelInMeta
//	list and resource changes         notifications,                       subscriptions/listen                         Subscriptions
//	                                  resources/subscribe
//	root changes                      notifications/roots/list_changed     none                                         Lacks
//	tasks                             core: the client asks for one        extension: the server creates one            TaskExtension
//	result of a task                  tasks/result                         member of tasks/get                          TaskExtension
//	input of a task                   a request on tasks/result            inputRequests of tasks/get, tasks/update     TaskExtension
//	status changes of a task          notifications/tasks/status           notifications/tasks on a subscription        TaskExtension
//	list of tasks                     tasks/list                           none                                         Lacks
//	kind of a result                  none                                 resultType                                   ResultType, Result
//	cache lifetime of a result        none                                 ttlMs, cacheScope                            Result
//	unknown resource                  error -32002                         error -32602                                 NoResource
//	missing client capability         error -32601                         error -32021, requiredCapabilities           front, tasks
//	errors over HTTP                  status 200                           error statuses                               events
//	methods                           those above                          those above                                  Lacks
//
// Package upstream negotiates the revision with servers, and package wire defines the
// format of messages.
package rev
