// Package tasks follows the tasks that servers make of calls (tasks/get, tasks/result,
// tasks/cancel, tasks/list, notifications/tasks/status), in the forms of both families of
// revisions. See SEP-1686 and SEP-2663.
package tasks
