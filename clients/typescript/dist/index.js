export { createClient, } from "./client.js";
export { ApiError, NoAnswerError, SessionEndedError, UndertoneError, ValidationError, } from "./errors.js";
