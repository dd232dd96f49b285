export { createClient } from "./client.js";
export { ApiError, NoAnswerError, UndertoneError, ValidationError } from "./errors.js";
