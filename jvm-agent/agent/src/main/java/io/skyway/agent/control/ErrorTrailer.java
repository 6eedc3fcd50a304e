package io.skyway.agent.control;

import io.skyway.proto.ErrorDetail;
import io.skyway.proto.Refusal;

/** Makes an ErrorDetail small enough for a header, dropping what matters least first. */
final class ErrorTrailer {
    private ErrorTrailer() {}

    static ErrorDetail fit(ErrorDetail detail, int mostBytes) {
        ErrorDetail.Builder out = detail.toBuilder();
        while (tooLarge(out, mostBytes) && !out.getStackTrace().isEmpty()) {
            out.setStackTrace(half(out.getStackTrace()));
        }
        while (tooLarge(out, mostBytes) && out.getRefusalsCount() > 1) {
            out.removeRefusals(out.getRefusalsCount() - 1);
        }
        if (tooLarge(out, mostBytes) && out.getRefusalsCount() == 1) {
            Refusal r = out.getRefusals(0);
            out.setRefusals(0, r.toBuilder().setPath(middle(r.getPath(), mostBytes / 4)));
        }
        while (tooLarge(out, mostBytes) && !out.getMessage().isEmpty()) {
            out.setMessage(half(out.getMessage()));
        }
        return out.build();
    }

    private static boolean tooLarge(ErrorDetail.Builder detail, int mostBytes) {
        return detail.build().getSerializedSize() > mostBytes;
    }

    private static String half(String text) {
        return text.length() < 200 ? "" : text.substring(0, text.length() / 2) + " ...";
    }

    /** A path's two ends say most: where it starts, and what it leads to. */
    private static String middle(String text, int most) {
        return text.length() <= most
                ? text
                : text.substring(0, most / 2) + " ... " + text.substring(text.length() - most / 2);
    }
}
