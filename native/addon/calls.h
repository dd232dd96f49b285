#pragma once

#include <napi.h>

#include <new>
#include <string>

#include "error.h"

namespace undertone {

// Each adds the functions of its file, with their names in JavaScript.
void ExportAnalysisCalls(Napi::Object exports);
void ExportDecodeCalls(Napi::Object exports);

// Throws a JavaScript error with `code` and `reason`.
[[noreturn]] void ThrowToJavaScript(Napi::Env env, ErrorCode code, const std::string& reason);

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
Napi::Value TranslateErrors(const Napi::CallbackInfo& info) {
  try {
    return call(info);
  } catch (const Error& error) {
    ThrowToJavaScript(info.Env(), error.code, error.what());
  } catch (const std::bad_alloc&) {
    ThrowToJavaScript(info.Env(), ErrorCode::kInternal, "Out of memory");
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& error) {
    ThrowToJavaScript(info.Env(), ErrorCode::kInternal, error.what());
  }
}

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
void Export(const char* name, Napi::Object exports) {
  exports[name] = Napi::Function::New<TranslateErrors<call>>(exports.Env(), name);
}

}  // namespace undertone
