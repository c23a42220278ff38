package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.spi.change.Mail;

/** The columns of mail, declared once for all statements that deliver it. */
public final class MailColumns {
    public static final Columns<Mail> COLUMNS = Columns.<Mail>of()
            .smallint("channel", mail -> Codes.of(mail.channel().kind()))
            .integer("position", mail -> mail.channel().position())
            .text("name", mail -> mail.channel().name())
            .uuid("token", Mail::token)
            .smallint("status", mail -> Codes.of(mail.status()))
            .text("text", mail -> Text.storable(mail.text()))
            .bytes("payload", mail -> mail.payload().bytes())
            .text("headers", mail -> Descriptions.lines(mail.headers()));

    private MailColumns() {}
}
