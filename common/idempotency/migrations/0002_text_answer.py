from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('idempotency', '0001_initial'),
    ]

    operations = [
        # Every stored request has its answer: it is committed together with it.
        migrations.AlterField(
            model_name='idempotentrequest',
            name='answer',
            field=models.TextField(blank=True, default=''),
            preserve_default=False,
        ),
    ]
