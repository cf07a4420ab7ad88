package tool

// Code names a kind of failure. The set is closed: every Error of the product
// carries one of these.
type Code string

// What is wrong with a definition.
const (
	InvalidName        Code = "invalid_name"
	NameConflict       Code = "name_conflict"
	InvalidDescription Code = "invalid_description"
	InvalidSchema      Code = "invalid_schema"
	SyntaxError        Code = "syntax_error"
	BodyTooLarge       Code = "body_too_large"
	InvalidDefinition  Code = "invalid_definition"
	ExampleFailed      Code = "example_failed"
	LimitReached       Code = "limit_reached"
)

// Why a change was not made.
const (
	NotFound            Code = "not_found"
	VersionNotFound     Code = "version_not_found"
	Conflict            Code = "conflict"
	Forbidden           Code = "forbidden"
	ApprovalDeclined    Code = "approval_declined"
	ApprovalUnavailable Code = "approval_unavailable"
)

// Why a call gave no value.
const (
	InvalidArguments Code = "invalid_arguments"
	Disabled         Code = "disabled"
	CallFailed       Code = "call_failed"
	Timeout          Code = "timeout"
	MemoryExceeded   Code = "memory_exceeded"
	ResultNotJSON    Code = "result_not_json"
	ResultTooLarge   Code = "result_too_large"
	OutputMismatch   Code = "output_mismatch"
	Cancelled        Code = "cancelled"
	WorkerCrashed    Code = "worker_crashed"
	CallCycle        Code = "call_cycle"
	RateLimited      Code = "rate_limited"
	Overloaded       Code = "overloaded"
	Unhealthy        Code = "unhealthy"
)

// What the broker refused, or what failed outside.
const (
	CapabilityDenied Code = "capability_denied"
	PathDenied       Code = "path_denied"
	NotAFile         Code = "not_a_file"
	QuotaExceeded    Code = "quota_exceeded"
	EgressDenied     Code = "egress_denied"
	InvalidURL       Code = "invalid_url"
	FetchFailed      Code = "fetch_failed"
	ResponseTooLarge Code = "response_too_large"
	SecretDenied     Code = "secret_denied"
	ExecDenied       Code = "exec_denied"
	ExecFailed       Code = "exec_failed"
)

// What is wrong with the room.
const (
	Stopped       Code = "stopped"
	StorageFailed Code = "storage_failed"
	Locked        Code = "locked"
	Unauthorized  Code = "unauthorized"
	Internal      Code = "internal"
)

// Codes lists every code, in the order of the contract.
func Codes() []Code {
	return []Code{
		InvalidName, NameConflict, InvalidDescription, InvalidSchema, SyntaxError, BodyTooLarge, InvalidDefinition, ExampleFailed, LimitReached,
		NotFound, VersionNotFound, Conflict, Forbidden, ApprovalDeclined, ApprovalUnavailable,
		InvalidArguments, Disabled, CallFailed, Timeout, MemoryExceeded, ResultNotJSON, ResultTooLarge, OutputMismatch, Cancelled,
		WorkerCrashed, CallCycle, RateLimited, Overloaded, Unhealthy,
		CapabilityDenied, PathDenied, NotAFile, QuotaExceeded, EgressDenied, InvalidURL, FetchFailed, ResponseTooLarge, SecretDenied, ExecDenied, ExecFailed,
		Stopped, StorageFailed, Locked, Unauthorized, Internal,
	}
}

// Capability says whether the broker may answer a request with c: only these
// codes keep their meaning when a body lets the error through.
func (c Code) Capability() bool {
	switch c {
	case CapabilityDenied, PathDenied, NotAFile, QuotaExceeded, EgressDenied, InvalidURL, FetchFailed, ResponseTooLarge,
		SecretDenied, ExecDenied, ExecFailed, Timeout, CallCycle, RateLimited, Overloaded:
		return true
	}
	return false
}

// retryable says whether the same request may well succeed a moment later.
func (c Code) retryable() bool {
	switch c {
	case Conflict, RateLimited, Overloaded, Unhealthy, WorkerCrashed, StorageFailed:
		return true
	}
	return false
}
