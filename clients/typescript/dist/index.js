export { createClient, } from "./client.js";
export { ApiError, ForbiddenError, JobFailedError, NoAnswerError, NotFoundError, RateLimitedError, SessionEndedError, UnauthenticatedError, UnavailableError, UndertoneError, ValidationError, WebhookError, } from "./errors.js";
